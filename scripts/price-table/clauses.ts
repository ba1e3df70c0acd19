/** The conditions by which genai-prices recognizes the names of a model. */

export type Clause =
  | { equals: string }
  | { starts_with: string }
  | { ends_with: string }
  | { contains: string }
  | { regex: string }
  | { or: Clause[] }
  | { and: Clause[] }

/** Whether the clause matches the name; like the package itself, in lower case. */
export function matchesName(clause: Clause, name: string): boolean {
  const lower = name.toLowerCase()
  if ('equals' in clause) return lower === clause.equals.toLowerCase()
  if ('starts_with' in clause) return lower.startsWith(clause.starts_with.toLowerCase())
  if ('ends_with' in clause) return lower.endsWith(clause.ends_with.toLowerCase())
  if ('contains' in clause) return lower.includes(clause.contains.toLowerCase())
  if ('regex' in clause) return new RegExp(clause.regex, 'i').test(name)
  if ('or' in clause) return clause.or.some((one) => matchesName(one, name))
  return clause.and.every((one) => matchesName(one, name))
}

/** What the clause compares names with. */
export function textsOf(clause: Clause): string[] {
  if ('or' in clause) return clause.or.flatMap(textsOf)
  return 'and' in clause ? clause.and.flatMap(textsOf) : Object.values(clause)
}
