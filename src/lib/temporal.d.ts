/**
 * The part of Temporal that Tally uses. Bun has all of it; the library of TypeScript 5.9 does not declare it yet.
 * Remove this file as soon as it does.
 */
declare namespace Temporal {
  class Instant {
    static fromEpochMilliseconds(milliseconds: number): Instant
    toZonedDateTimeISO(timeZone: string): ZonedDateTime
  }

  class ZonedDateTime {
    readonly epochMilliseconds: number
    readonly offsetNanoseconds: number
    readonly timeZoneId: string
    toPlainDate(): PlainDate
    toPlainDateTime(): PlainDateTime
    getTimeZoneTransition(direction: 'next' | 'previous'): ZonedDateTime | null
  }

  class PlainDate {
    /** Throws a RangeError if the text is not a date. */
    static from(text: string): PlainDate
    readonly year: number
    readonly month: number
    readonly day: number
    /** 1 is Monday. */
    readonly dayOfWeek: number
    /** ISO 8601. */
    readonly weekOfYear: number
    with(fields: { month?: number; day?: number }): PlainDate
    add(duration: { days?: number; weeks?: number; months?: number }): PlainDate
    subtract(duration: { days?: number; weeks?: number; months?: number }): PlainDate
    /** The first moment of the day, which is not midnight if a clock change skips it. */
    toZonedDateTime(timeZone: string): ZonedDateTime
    toString(): string
  }

  class PlainDateTime {
    /** Throws a RangeError if the text is not a date and a time. */
    static from(text: string, options?: { overflow: 'reject' }): PlainDateTime
    /** Throws a RangeError if the clocks of the zone never show the time, or show it twice. */
    toZonedDateTime(timeZone: string, options: { disambiguation: 'reject' }): ZonedDateTime
    /** `2026-11-01T00:00:00`, to the precision named. */
    toString(options?: { smallestUnit?: 'minute' | 'second' }): string
  }
}
