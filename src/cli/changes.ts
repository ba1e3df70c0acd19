interface Changed {
  before: Record<string, unknown> | null
  after: Record<string, unknown> | null
}

/** `status: "submitted" → "approved", because: "by_hand"` */
export function changesText({ before, after }: Changed): string {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  const text = (values: Record<string, unknown> | null, name: string) =>
    values && name in values ? JSON.stringify(values[name]) : undefined
  return names
    .map((name) => {
      const [was, is] = [text(before, name), text(after, name)]
      return `${name}: ${was !== undefined && is !== undefined ? `${was} → ${is}` : (is ?? was)}`
    })
    .join(', ')
}
