import type { api, Body } from './api.ts'

type Webhooks = (typeof api)['webhooks']
export type NewWebhook = NonNullable<Parameters<Webhooks['post']>[0]>
export type CreatedWebhook = Body<Awaited<ReturnType<Webhooks['post']>>>
export type Webhook = Body<Awaited<ReturnType<Webhooks['get']>>>['data'][number]
export type WebhookDelivery = Body<Awaited<ReturnType<ReturnType<Webhooks>['test']['post']>>>
