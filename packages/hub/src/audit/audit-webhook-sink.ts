/**
 * A webhook for the audit: each batch is one POST of JSON lines. With a secret it is signed as Standard Webhooks describe it: an HMAC
 * over the id, the time and the body, so that the receiver can verify the sender and discard repeats.
 */
import { createHmac } from 'node:crypto'
import type { AuditSink } from './audit-export.ts'

export interface AuditWebhookSettings {
  readonly name: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly secret?: string | undefined
}

export interface AuditWebhookDeps {
  /** Checks the address that it connects to. */
  fetch(request: Request): Promise<Response>
  readonly now: () => number
}

export function auditWebhookSink(settings: AuditWebhookSettings, { fetch, now }: AuditWebhookDeps): AuditSink {
  const { name, url, headers, secret } = settings
  return {
    name,
    async write({ text, id }, signal) {
      const timestamp = String(Math.floor(now() / 1_000))
      const request = new Request(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/x-ndjson',
          'user-agent': 'parley',
          'webhook-id': id,
          'webhook-timestamp': timestamp,
          ...(secret === undefined ? {} : { 'webhook-signature': webhookSignature(secret, id, timestamp, text) }),
          ...headers,
        },
        body: text,
        redirect: 'manual',
        signal,
      })
      const response = await fetch(request)
      // The connection is used again only when the body was read.
      await response.body?.cancel()
      if (!response.ok) throw new Error(`the webhook returned ${response.status}`)
    },
    async close() {},
  }
}

/** `v1,` and the base64 of the HMAC-SHA256 of `id.timestamp.body`. A secret `whsec_…` is base64; any other is used as it is. */
export function webhookSignature(secret: string, id: string, timestamp: string, body: string): string {
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : Buffer.from(secret)
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
}
