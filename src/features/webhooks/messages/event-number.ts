/** A number of an event. It may be raw JSON, whose text is its digits. */
export const eventNumber = (value: unknown): number => Number(JSON.stringify(value))
