/** What the connections of a database did so far. Tests count it; nothing is counted unless it is requested. */
export interface StatementCounts {
  /** Statements that were parsed and planned. */
  prepared: number
  /** Statements that were run, including those that begin and end transactions, without pragmas. */
  executed: number
  /** Queries that were built. */
  built: number
  /** On PostgreSQL, how often a connection waited for its server: statements sent together share one. */
  roundTrips: number
}
