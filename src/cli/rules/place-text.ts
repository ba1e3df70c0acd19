/** Where entries are and where they go, as a person reads it. */
interface Where {
  project: { key: string } | null
  ticket: { key: string } | null
  placed_by: string
}

export function placeText({ project, ticket, placed_by }: Where): string {
  const place = [project?.key, ticket?.key].filter(Boolean).join(' ')
  if (place !== '') return place
  return placed_by === 'manual' ? 'unattributed, by hand' : 'unattributed'
}
