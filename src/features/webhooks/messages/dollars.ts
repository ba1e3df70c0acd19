const DOLLARS = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' })

/** An amount of an event. It may be raw JSON, whose text is its digits. */
export const dollars = (amount: unknown): string => DOLLARS.format(Number(JSON.stringify(amount)))
