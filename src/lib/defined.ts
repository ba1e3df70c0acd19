/** The fields that are present: undefined ones would overwrite existing values. */
export function defined<Fields extends object>(
  fields: Fields,
): { [Field in keyof Fields]: Exclude<Fields[Field], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
}

type WithoutNulls<Fields> = {
  [Name in keyof Fields as null extends Fields[Name] ? never : Name]: Fields[Name]
} & { [Name in keyof Fields as null extends Fields[Name] ? Name : never]?: NonNullable<Fields[Name]> }

/** The fields that are not null: reports leave out what is unknown. */
export const withoutNulls = <Fields extends object>(fields: Fields) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as WithoutNulls<Fields>
