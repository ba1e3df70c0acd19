/** `ACME · Acme web`, or the key alone if the name is the same. */
export const projectLabel = ({ key, name }: { key: string; name: string | null }): string =>
  name === null || name === key ? key : `${key} · ${name}`
