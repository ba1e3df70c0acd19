/** Which page of the manual is about which page of the application. */

/** By the first segment of the application's address. */
export const MANUAL_PAGES: Record<string, string> = {
  '': 'reports/usage',
  inbox: 'approval',
  reports: 'reports/usage',
  insights: 'reports/insights',
  entries: 'reports/entries',
  unattributed: 'projects-and-rules',
  work: 'projects-and-rules',
  usage: 'reports/usage',
  rules: 'projects-and-rules',
  sheets: 'approval',
  bills: 'billing',
  budgets: 'spending-limits',
  plans: 'plans',
  prices: 'model-prices',
  connect: 'connect/overview',
  telemetry: 'connect/telemetry',
  people: 'people/roles',
  tokens: 'people/access-tokens',
  'share-links': 'people/sharing',
  webhooks: 'integrate/outgoing-webhooks',
  settings: 'people/organization',
  audit: 'people/organization',
  account: 'people/sign-in',
}

/** The address of the manual's page about an address of the application, else that of its first page. */
export function manualAddress(path: string): string {
  return `/docs/${MANUAL_PAGES[path.split('/')[1] ?? ''] ?? ''}`
}
