-- What the makers of stored models (store_*.sql) begin with: a table of models, each with a row,
-- sequence or document as text, and what it says of that.
\set ON_ERROR_STOP on
\set QUIET on
SET client_min_messages = error;

CREATE TABLE made (
  id int GENERATED ALWAYS AS IDENTITY, name text UNIQUE, type text, x text, model bayes_model);
-- A row of records.
CREATE TYPE record_of_iris AS (
  species text, petal_width float8, even boolean, twice float8, five int);
\ir model_answers.sql
CREATE VIEW said AS SELECT id, name, type, x, answers(model, type, x), model::text FROM made;
