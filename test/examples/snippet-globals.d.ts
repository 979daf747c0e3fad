/** What the snippets of the docs use without importing it: the SDK's best-known names, and what a reader would have. */
import type * as assertModule from 'node:assert/strict'
import type * as sdk from '@parley/a2a'
import type { Agent, Report, Turn as SdkTurn } from '@parley/a2a'
import type { FullStore } from '@parley/a2a/stores'
import type * as client from '@parley/a2a/client'
import type * as node from '@parley/a2a/node'
import type * as server from '@parley/a2a/server'

declare global {
  type Turn = SdkTurn
  type Authenticate = server.Authenticate
  const A2AError: typeof sdk.A2AError
  const authRequired: typeof sdk.authRequired
  const inputRequired: typeof sdk.inputRequired
  const assert: typeof assertModule
  const connect: typeof client.connect
  const mtls: typeof server.mtls
  const serve: typeof node.serve
  const handler: server.Handler

  const agent: (turn: SdkTurn) => string
  const fn: (turn: SdkTurn) => string
  const run: (turn: SdkTurn) => string
  const reattach: (turn: SdkTurn) => string
  const myAgent: ((turn: SdkTurn) => string) & ((options: { url: string }) => Agent)
  const authenticate: Authenticate
  const schemes: Record<string, { httpAuthSecurityScheme: { scheme: string } }>
  const key: string
  const cert: string
  const authority: string
  const url: string
  const taskId: string
  const configId: string
  const remoteId: string
  const masterKeyFromYourSecrets: string

  const keys: Map<string, { id: string }>
  const sessions: { find(cookie: string | undefined): Promise<{ id: string; roles: string[] } | undefined> }
  const quota: { take(id: string): { left: number; resetAt: number } }
  const audit: { write(entry: object): void }
  const directory: { tenantsOf(id: string): string[] }
  const mentionsPrices: (event: object) => boolean
  const openMyStore: () => Promise<FullStore>
  const startOrFind: (jobId: string) => Promise<object>
  const watch: (job: object, signal: AbortSignal) => AsyncIterable<Report>
  const startFakeBackend: () => Promise<{
    url: string
    begun: Promise<void>
    stopped: Promise<void>
    close: () => Promise<void>
  }>
}
