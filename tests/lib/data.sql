-- Loads the data sets of tests/data as tables. Run by psql in the top directory.
--
-- Every table has its original columns, `id` for the order of the file, and `x`, its measurements
-- as one array.
\set ON_ERROR_STOP on
\set QUIET on

-- Old Faithful: length of an eruption and waiting time to the next, in minutes. (R: faithful)
CREATE TABLE faithful (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, eruptions float8, waiting float8,
  x float8[] GENERATED ALWAYS AS (ARRAY[eruptions, waiting]) STORED);
\copy faithful (eruptions, waiting) FROM 'tests/data/faithful.csv' CSV HEADER

-- Iris flowers, in centimetres. (R: iris)
CREATE TABLE iris (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, sepal_length float8, sepal_width float8,
  petal_length float8,
  petal_width float8, species text,
  x float8[] GENERATED ALWAYS AS (ARRAY[sepal_length, sepal_width, petal_length, petal_width])
    STORED);
\copy iris (sepal_length, sepal_width, petal_length, petal_width, species) FROM 'tests/data/iris.csv' CSV HEADER

-- Chemical analyses of Italian wines from three cultivars. (UCI; scikit-learn: load_wine)
CREATE TABLE wine (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, class int, alcohol float8, malic_acid float8, ash
  float8,
  alcalinity_of_ash float8, magnesium float8, total_phenols float8, flavanoids float8,
  nonflavanoid_phenols float8,
  proanthocyanins float8, color_intensity float8, hue float8, od280_od315_of_diluted_wines float8,
  proline float8,
  x float8[] GENERATED ALWAYS AS (ARRAY[alcohol, malic_acid, ash, alcalinity_of_ash, magnesium,
    total_phenols, flavanoids, nonflavanoid_phenols, proanthocyanins, color_intensity, hue,
    od280_od315_of_diluted_wines, proline]) STORED);
\copy wine (class, alcohol, malic_acid, ash, alcalinity_of_ash, magnesium, total_phenols, flavanoids, nonflavanoid_phenols, proanthocyanins, color_intensity, hue, od280_od315_of_diluted_wines, proline) FROM 'tests/data/wine.csv' CSV HEADER

-- Diabetes patients: ten measurements, and the progression of the disease a year later.
-- (scikit-learn: load_diabetes)
CREATE TABLE diabetes (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, age float8, sex float8, bmi float8, bp float8,
  s1 float8, s2 float8,
  s3 float8, s4 float8, s5 float8, s6 float8, progression float8,
  x float8[] GENERATED ALWAYS AS (ARRAY[age, sex, bmi, bp, s1, s2, s3, s4, s5, s6]) STORED);
\copy diabetes (age, sex, bmi, bp, s1, s2, s3, s4, s5, s6, progression) FROM 'tests/data/diabetes.csv' CSV HEADER

-- Earthquakes near Fiji: place, depth in kilometres, magnitude, number of stations that reported.
-- (R: quakes)
CREATE TABLE quakes (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, lat float8, long float8, depth float8,
  mag float8, stations int,
  x float8[] GENERATED ALWAYS AS (ARRAY[lat, long, depth, mag]) STORED);
\copy quakes (lat, long, depth, mag, stations) FROM 'tests/data/quakes.csv' CSV HEADER

-- Handwritten digits, 8 x 8 grey values from 0 to 16. (UCI; scikit-learn: load_digits)
CREATE TABLE digits (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, label int,
  p0 int, p1 int, p2 int, p3 int, p4 int, p5 int, p6 int, p7 int,
  p8 int, p9 int, p10 int, p11 int, p12 int, p13 int, p14 int, p15 int,
  p16 int, p17 int, p18 int, p19 int, p20 int, p21 int, p22 int, p23 int,
  p24 int, p25 int, p26 int, p27 int, p28 int, p29 int, p30 int, p31 int,
  p32 int, p33 int, p34 int, p35 int, p36 int, p37 int, p38 int, p39 int,
  p40 int, p41 int, p42 int, p43 int, p44 int, p45 int, p46 int, p47 int,
  p48 int, p49 int, p50 int, p51 int, p52 int, p53 int, p54 int, p55 int,
  p56 int, p57 int, p58 int, p59 int, p60 int, p61 int, p62 int, p63 int,
  x float8[] GENERATED ALWAYS AS (ARRAY[p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13,
    p14, p15, p16, p17, p18, p19, p20, p21, p22, p23, p24, p25, p26, p27, p28, p29, p30, p31, p32,
    p33, p34, p35, p36, p37, p38, p39, p40, p41, p42, p43, p44, p45, p46, p47, p48, p49, p50, p51,
    p52, p53, p54, p55, p56, p57, p58, p59, p60, p61, p62, p63]::float8[]) STORED);
\copy digits (label, p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, p15, p16, p17, p18, p19, p20, p21, p22, p23, p24, p25, p26, p27, p28, p29, p30, p31, p32, p33, p34, p35, p36, p37, p38, p39, p40, p41, p42, p43, p44, p45, p46, p47, p48, p49, p50, p51, p52, p53, p54, p55, p56, p57, p58, p59, p60, p61, p62, p63) FROM 'tests/data/digits.csv' CSV HEADER

-- Velocities of 82 galaxies in the Corona Borealis region, in km/s; x in 1000 km/s. (R:
-- MASS::galaxies)
CREATE TABLE galaxies (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, velocity float8,
  x float8[] GENERATED ALWAYS AS (ARRAY[velocity / 1000]) STORED);
\copy galaxies (velocity) FROM 'tests/data/galaxies.csv' CSV HEADER

-- Acidity of 155 lakes in Wisconsin: the logarithm of the acid neutralizing capacity. (Crawford and
-- others 1992; R: mclust::acidity)
CREATE TABLE acidity (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, index float8,
  x float8[] GENERATED ALWAYS AS (ARRAY[index]) STORED);
\copy acidity (index) FROM 'tests/data/acidity.csv' CSV HEADER

-- Answers 1 or 2 to four situations of role conflict, and how many of 216 people gave them.
-- (Stouffer and Toby 1951; R: poLCA::values)
CREATE TABLE role_conflict (
  a int, b int, c int, d int, count int,
  x int[] GENERATED ALWAYS AS (ARRAY[a, b, c, d]) STORED);
\copy role_conflict (a, b, c, d, count) FROM 'tests/data/role_conflict.csv' CSV HEADER

-- Births and what might have to do with a low weight: the mother's age, weight in pounds and race
-- (1 to 3), smoking, earlier premature labours, hypertension, uterine irritability, visits to a
-- physician; x leaves out low and bwt, the weight in grams. (R: MASS::birthwt)
CREATE TABLE birthwt (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, low int, age float8, lwt float8, race int,
  smoke int, ptl int, ht int, ui int, ftv int, bwt float8,
  x float8[] GENERATED ALWAYS AS (ARRAY[age, lwt, race, smoke, ptl, ht, ui, ftv]) STORED);
\copy birthwt (low, age, lwt, race, smoke, ptl, ht, ui, ftv, bwt) FROM 'tests/data/birthwt.csv' CSV HEADER

-- Residents of Copenhagen, how satisfied they are with their housing: households of each kind.
-- (Madsen 1976; R: MASS::housing)
CREATE TYPE satisfaction AS ENUM ('Low', 'Medium', 'High');
CREATE TABLE housing (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, satisfaction satisfaction, influence text,
  type text, contact text, households float8);
\copy housing (satisfaction, influence, type, contact, households) FROM 'tests/data/housing.csv' CSV HEADER

-- Breast tumours: thirty measurements of the nuclei of cells, means, standard errors and largest
-- values of ten, and whether the tumour was benign (1) or malignant. (UCI; scikit-learn:
-- load_breast_cancer)
CREATE TABLE breast_cancer (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, benign int,
  mean_radius float8, mean_texture float8, mean_perimeter float8, mean_area float8,
  mean_smoothness float8, mean_compactness float8, mean_concavity float8,
  mean_concave_points float8, mean_symmetry float8, mean_fractal_dimension float8,
  radius_error float8, texture_error float8, perimeter_error float8, area_error float8,
  smoothness_error float8, compactness_error float8, concavity_error float8,
  concave_points_error float8, symmetry_error float8, fractal_dimension_error float8,
  worst_radius float8, worst_texture float8, worst_perimeter float8, worst_area float8,
  worst_smoothness float8, worst_compactness float8, worst_concavity float8,
  worst_concave_points float8, worst_symmetry float8, worst_fractal_dimension float8,
  x float8[] GENERATED ALWAYS AS (ARRAY[
    mean_radius, mean_texture, mean_perimeter, mean_area, mean_smoothness, mean_compactness,
    mean_concavity, mean_concave_points, mean_symmetry, mean_fractal_dimension, radius_error,
    texture_error, perimeter_error, area_error, smoothness_error, compactness_error,
    concavity_error, concave_points_error, symmetry_error, fractal_dimension_error, worst_radius,
    worst_texture, worst_perimeter, worst_area, worst_smoothness, worst_compactness,
    worst_concavity, worst_concave_points, worst_symmetry, worst_fractal_dimension]) STORED);
\copy breast_cancer (benign, mean_radius, mean_texture, mean_perimeter, mean_area, mean_smoothness, mean_compactness, mean_concavity, mean_concave_points, mean_symmetry, mean_fractal_dimension, radius_error, texture_error, perimeter_error, area_error, smoothness_error, compactness_error, concavity_error, concave_points_error, symmetry_error, fractal_dimension_error, worst_radius, worst_texture, worst_perimeter, worst_area, worst_smoothness, worst_compactness, worst_concavity, worst_concave_points, worst_symmetry, worst_fractal_dimension) FROM 'tests/data/breast_cancer.csv' CSV HEADER

-- Closing prices of the German, Swiss, French and British stock indices on 1860 trading days from
-- 1991 to 1998. (R: EuStockMarkets)
CREATE TABLE eustockmarkets (day int PRIMARY KEY, dax float8, smi float8, cac float8, ftse float8);
\copy eustockmarkets FROM 'tests/data/eustockmarkets.csv' CSV HEADER

-- Old Faithful from August 1st to 15th, 1985, without a break: waiting time before an eruption and
-- its duration, in minutes; at night a duration is often just "short" or "long", coded 2 and 4
-- minutes. (R: MASS::geyser)
CREATE TABLE geyser (t int PRIMARY KEY, waiting float8, duration float8);
\copy geyser FROM 'tests/data/geyser.csv' CSV HEADER
-- The same as somebody would note it: by day a duration, at night a word, and NULL for the other.
CREATE TABLE geyser_log (eruption int PRIMARY KEY, waiting int, duration numeric, noted text);
INSERT INTO geyser_log
SELECT t, waiting, CASE WHEN duration NOT IN (2, 3, 4) THEN round(duration::numeric, 2) END,
       CASE duration WHEN 2 THEN 'short' WHEN 3 THEN 'medium' WHEN 4 THEN 'long' END
FROM geyser;

-- Ratings of lectures by students of ETH Zurich, from 1 (poor) to 5 (very good): one of a lecturer
-- by a student, and the department of the lecture; names are numbers. (R: lme4::InstEval, GPL
-- version 2 or later)
CREATE TABLE lectures (
  student int, lecturer int, department int, rating int, PRIMARY KEY (student, lecturer));
\copy lectures FROM 'tests/data/lectures.csv' CSV HEADER

-- The pages of the tutorial in PostgreSQL's manual.
CREATE TABLE tutorial (page text PRIMARY KEY, title text, body text);
\copy tutorial FROM 'tests/data/tutorial.tsv' CSV HEADER DELIMITER E'\t' QUOTE E'\b'

-- The pages of PostgreSQL's manual (version 15), the first 600 characters of each; in words, their
-- words as the text search sees them.
CREATE TABLE manual (
  page text PRIMARY KEY, title text, body text,
  words tsvector GENERATED ALWAYS AS (to_tsvector('english', body)) STORED);
\copy manual (page, title, body) FROM 'tests/data/manual.tsv' CSV HEADER DELIMITER E'\t' QUOTE E'\b'

ANALYZE;
\unset ON_ERROR_STOP
\unset QUIET
