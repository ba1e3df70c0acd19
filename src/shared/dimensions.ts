/** What usage is grouped by, and what groups are called: on pages and in what is shared of them. Pure. */

import type { FundingKind, Source } from '../database/schema/values.ts'
import { FUNDING_TITLES } from './funding.ts'

/** In the order of the menu; the titles of columns, and what entries without a value are called. */
const DIMENSIONS = {
  project: { title: 'Project', plural: 'Projects', none: 'No project' },
  ticket: { title: 'Ticket', plural: 'Tickets', none: 'No ticket' },
  client: { title: 'Client', plural: 'Clients', none: 'No client' },
  agent_manager: { title: 'Person', plural: 'People', none: 'No person' },
  agent_name: { title: 'Agent', plural: 'Agents', none: 'No agent' },
  agent_harness: { title: 'Harness', plural: 'Harnesses', none: 'No harness' },
  model: { title: 'Model', plural: 'Models', none: 'No model' },
  provider: { title: 'Provider', plural: 'Providers', none: 'No provider' },
  status: { title: 'Status', plural: 'Statuses', none: 'No status' },
  source: { title: 'Source', plural: 'Sources', none: 'No source' },
  plan: { title: 'Plan', plural: 'Plans', none: 'No plan' },
  funding: { title: 'Funding', plural: 'Funding', none: 'No funding' },
} as const

export type PlainDimension = keyof typeof DIMENSIONS
export type Dimension = PlainDimension | `label:${string}`
export const DIMENSION_NAMES = Object.keys(DIMENSIONS) as PlainDimension[]

type Value = string | { id: string; key?: string; name?: string } | null

/** A group of a report, with the dimensions that it is of. */
export type Grouped = { labels?: Record<string, string | null> } & { [Name in PlainDimension]?: Value }

const LABEL = /^label:[a-z0-9_.-]{1,64}$/
export const isLabel = (dimension: string): dimension is `label:${string}` => LABEL.test(dimension)
export const isDimension = (text: string): text is Dimension => Object.hasOwn(DIMENSIONS, text) || isLabel(text)
export const labelName = (dimension: string): string => dimension.slice('label:'.length)

export const titleOf = (dimension: Dimension): string =>
  isLabel(dimension) ? `Label ${labelName(dimension)}` : DIMENSIONS[dimension].title

/** The heading of a list of its values. */
export const pluralOf = (dimension: Dimension): string =>
  isLabel(dimension) ? titleOf(dimension) : DIMENSIONS[dimension].plural

export const SOURCE_TITLES: Record<Source, string> = {
  report: 'API report',
  log: 'OpenTelemetry logs',
  span: 'OpenTelemetry spans',
  metric: 'OpenTelemetry metrics',
  sheet: 'Token sheet',
}

const groupValue = (group: Grouped, dimension: Dimension): Value =>
  isLabel(dimension) ? (group.labels?.[labelName(dimension)] ?? null) : (group[dimension] ?? null)

/** The id of a group, which also is its filter; null for entries without a value. */
export function keyOf(group: Grouped, dimension: Dimension): string | null {
  const value = groupValue(group, dimension)
  return value === null || typeof value === 'string' ? value : value.id
}

export function labelOf(group: Grouped, dimension: Dimension): string {
  const value = groupValue(group, dimension)
  if (value === null) return isLabel(dimension) ? `No label ${labelName(dimension)}` : DIMENSIONS[dimension].none
  if (typeof value !== 'string') return value.name ?? value.key ?? value.id
  if (dimension === 'source') return SOURCE_TITLES[value as Source]
  if (dimension === 'funding') return FUNDING_TITLES[value as FundingKind]
  // Written in small letters by the API.
  return dimension === 'status' ? value.charAt(0).toUpperCase() + value.slice(1) : value
}
