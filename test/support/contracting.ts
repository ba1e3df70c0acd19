/** Statements of a migration after which the version before can't go on, or that block its reports for long. */

/** Without comments, texts and the bodies of functions. */
const bare = (sql: string) =>
  sql
    .replaceAll(/--.*$/gm, '')
    .replaceAll(/\$(\w*)\$[\s\S]*?\$\1\$/g, "''")
    .replaceAll(/'(?:[^']|'')*'/g, "''")

/** The beginning of the definition of a new column of a table that exists. */
const NEW_COLUMN = String.raw`\bADD (COLUMN )?(IF NOT EXISTS )?(?!(CONSTRAINT|CHECK|FOREIGN|UNIQUE|PRIMARY|EXCLUDE)\b)\w+ [^,;]*`
const newColumn = (rest: string) => new RegExp(NEW_COLUMN + rest, 'i')

const RULES: [what: RegExp, why: string][] = [
  [/\bDROP\b/i, 'removes what the version before may use'],
  [/\bRENAME\b/i, 'renames what the version before uses'],
  [/\bALTER (COLUMN )?\w+ (SET DATA )?TYPE\b/i, 'changes a type, and rewrites the table'],
  [/\bALTER (COLUMN )?\w+ SET NOT NULL\b/i, 'requires what the version before may not write'],
  [newColumn(String.raw`\b(UNIQUE|PRIMARY KEY|REFERENCES|CHECK|GENERATED)\b`), 'reads or rewrites the whole table'],
  [newColumn(String.raw`\bDEFAULT \w+ ?\(`), 'rewrites the table to compute the default'],
  [
    /\bADD (CONSTRAINT \w+ )?(CHECK|FOREIGN KEY|UNIQUE|PRIMARY KEY|EXCLUDE)\b(?![^;]*\bNOT VALID\b)/i,
    'reads the whole table: add it with NOT VALID, and validate it afterwards',
  ],
  [/^(UPDATE|DELETE|TRUNCATE|LOCK|CLUSTER|VACUUM|REINDEX)\b/i, 'locks rows or tables for long'],
]

/** Whether a new column has to be written, which the version before does not. */
const requiresColumn = (statement: string) =>
  statement.split(',').some((part) => newColumn(String.raw`\bNOT NULL\b`).test(part) && !/\bDEFAULT\b/i.test(part))

/** What is wrong with the statements, if the migration expands the schema while the version before runs. */
export function contractingStatements(sql: string): string[] {
  const statements = bare(sql)
    .split(';')
    .map((statement) => statement.trim())
    .filter(Boolean)
  const created = new Set(
    statements.flatMap((statement) => /^CREATE TABLE (?:IF NOT EXISTS )?(\w+)/i.exec(statement)?.[1] ?? []),
  )
  const isConcurrent = (statement: string) => /^CREATE INDEX CONCURRENTLY \w+ ON /.test(statement)
  const isMixed = statements.some(isConcurrent) && !statements.every(isConcurrent)
  const issues = statements.flatMap((statement) => {
    if (/^CREATE (OR REPLACE )?(TABLE|FUNCTION|TRIGGER|VIEW)\b/i.test(statement)) return []
    const table = /^ALTER TABLE (?:ONLY )?(\w+)|^CREATE (?:UNIQUE )?INDEX (?:CONCURRENTLY )?\w+ ON (\w+)/i.exec(
      statement,
    )
    if (table && created.has(table[1] ?? table[2]!)) return []
    if (/^CREATE UNIQUE INDEX/i.test(statement)) return [`${statement}: constrains what the version before writes`]
    if (/^CREATE INDEX/i.test(statement) && !isConcurrent(statement)) {
      return [`${statement}: blocks writes for as long as it takes: CREATE INDEX CONCURRENTLY name ON …`]
    }
    if (requiresColumn(statement)) return [`${statement}: requires what the version before does not write`]
    const rule = RULES.find(([what]) => what.test(statement))
    return rule ? [`${statement}: ${rule[1]}`] : []
  })
  return isMixed ? [...issues, 'CREATE INDEX CONCURRENTLY needs a migration of its own'] : issues
}
