/** The fields that are present: undefined ones would overwrite existing values. */
export function defined<Fields extends object>(
  fields: Fields,
): { [Field in keyof Fields]: Exclude<Fields[Field], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
}
