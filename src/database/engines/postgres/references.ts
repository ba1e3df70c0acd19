/** The references that triggers check instead of foreign keys: see migration 65. By the table, and what its columns refer to. */
export const CHECKED_REFERENCES: Record<string, Record<string, string>> = {
  entries: {
    harness_id: 'names',
    agent_id: 'names',
    model_id: 'names',
    provider_id: 'names',
    chain_model_id: 'names',
    manager_id: 'users',
    token_id: 'tokens',
    session_id: 'sessions',
    label_set_id: 'label_sets',
    rule_version_id: 'placement_rule_versions',
  },
  sessions: { harness_id: 'names', manager_id: 'users' },
}

/** A query of those that dangle, with columns as SQLite's `pragma_foreign_key_check` has them. */
export const MISSING_REFERENCES = Object.entries(CHECKED_REFERENCES)
  .flatMap(([table, columns]) =>
    Object.entries(columns).map(
      ([column, parent]) => `
        SELECT '${table}' AS "table", ${table}.id AS rowid, '${parent}' AS parent
        FROM ${table} LEFT JOIN ${parent} AS referred ON referred.id = ${table}.${column}
        WHERE ${table}.${column} IS NOT NULL AND referred.id IS NULL`,
    ),
  )
  .join(' UNION ALL ')
