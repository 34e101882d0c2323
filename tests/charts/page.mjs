// node page.mjs page.html chromium picture.png: opens the page in a browser; prints JSON: what the
// console said, the number of charts drawn, the title, the note of a page without programs, its
// text, the tooltip that a mark shows, and those of a chart that has areas of topics over time.
import {createRequire} from 'node:module';
import {pathToFileURL} from 'node:url';
import puppeteer from 'puppeteer-core';

const [page, executablePath, picture] = process.argv.slice(2);
const browser = await puppeteer.launch({executablePath, headless: true,
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
    '--allow-file-access-from-files']});
try {
  const tab = await browser.newPage();
  const said = [];
  tab.on('console', message => said.push(message.text()));
  tab.on('pageerror', error => said.push(String(error)));
  tab.on('dialog', dialog => (said.push('dialog'), dialog.dismiss()));
  tab.on('requestfailed', request => said.push('not found: ' + request.url()));
  await tab.setViewport({width: 1400, height: 1000});
  await tab.goto(pathToFileURL(page).href, {waitUntil: 'networkidle0'});
  // Charts are drawn one by one; those that do not come are missed below.
  await tab.waitForFunction(() => document.querySelectorAll('.chart').length
      === document.querySelectorAll('.chart svg.marks').length || document.querySelector('#note'),
      {timeout: 60000}).catch(() => {});
  const charts = await tab.$$('.chart svg.marks');
  let tooltip = null;
  const box = await charts[0]?.boundingBox();
  // Somewhere in the first chart there is a mark.
  for (let y = box?.y + 20; y < box?.y + box?.height && tooltip === null; y += 6)
    for (let x = box.x + 60; x < box.x + box.width && tooltip === null; x += 12) {
      await tab.mouse.move(x, y);
      tooltip = await tab.evaluate(
          () => document.querySelector('#vg-tooltip-element.visible')?.innerText ?? null);
    }
  // Every place of an area that is pointed at tells of itself.
  const places = new Set();
  const area = (await tab.evaluateHandle(() => [...document.querySelectorAll('.chart svg.marks')]
      .find(each => each.querySelector('.mark-area')
        && each.textContent.includes('mean proportion')))).asElement();
  await area?.evaluate(each => each.scrollIntoView());
  const wide = await area?.boundingBox();
  for (let x = 40; x < (wide?.width ?? 0); x += 8) {
    await tab.mouse.move(wide.x + x, wide.y + wide.height / 2);
    places.add(await tab.evaluate(
        () => document.querySelector('#vg-tooltip-element.visible')?.innerText ?? ''));
  }
  if (picture) await tab.screenshot({path: picture, fullPage: true});
  console.log(JSON.stringify({said, charts: charts.length,
    wanted: (await tab.$$('.chart')).length, title: await tab.title(), tooltip,
    note: await tab.evaluate(() => document.querySelector('#note')?.innerText),
    text: await tab.evaluate(() => document.body.innerText), places: [...places]}));
} finally {
  await browser.close();
}
