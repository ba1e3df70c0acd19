/** The days of the week: their names, and their numbers in calendars, where 0 is Sunday. */
export const WEEKDAYS = {
  monday: { name: 'Monday', number: 1 },
  tuesday: { name: 'Tuesday', number: 2 },
  wednesday: { name: 'Wednesday', number: 3 },
  thursday: { name: 'Thursday', number: 4 },
  friday: { name: 'Friday', number: 5 },
  saturday: { name: 'Saturday', number: 6 },
  sunday: { name: 'Sunday', number: 0 },
} as const

export type Weekday = keyof typeof WEEKDAYS
