/**
 * For every input, the response follows the protocol. Requests of both bindings and
 * all versions are generated, damaged and sent; an independent checker (answers/) checks each
 * response. Guards against crashes, hangs, 5xx, incomplete responses, errors that reveal
 * internals, and invalid messages that are accepted.
 *
 * `PARLEY_FULL=1` sends 100,000 requests under a seed of the day; `PARLEY_SEED` repeats a run.
 */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import fc from 'fast-check'
import { checkAnswer } from './answers/check-answer.ts'
import type { FuzzServer } from './fuzz-server.ts'
import { openFuzzServer } from './fuzz-server.ts'
import type { ServerVariant, RequestPlan } from './requests/request-plans.ts'
import { plans } from './requests/request-plans.ts'

const full = process.env['PARLEY_FULL'] === '1'
const requests = full ? 100_000 : 4_000
const seed = Number(process.env['PARLEY_SEED'] ?? (full ? Date.now() % 1_000_000_000 : 20_261_001))
/** A server that runs for longer prunes the tasks that the requests name. */
const perHouse = 800

describe('a server under arbitrary requests', () => {
  const servers = new Map<ServerVariant, { readonly served: FuzzServer; sent: number }>()
  const tally = new Map<string, number>()
  after(async () => {
    for (const { served } of servers.values()) await served.close()
  })

  async function serverFor(name: ServerVariant): Promise<FuzzServer> {
    const known = servers.get(name)
    if (known !== undefined && known.sent < perHouse) {
      known.sent += 1
      return known.served
    }
    await known?.served.close()
    const served = await openFuzzServer(name)
    servers.set(name, { served, sent: 1 })
    return served
  }

  async function ask(plan: RequestPlan): Promise<void> {
    const served = await serverFor(plan.variant)
    const { sent, got } = await served.exchange(plan)
    const { complaints, outcome } = checkAnswer(sent, got)
    const key = `${outcome} ${got.status}`
    tally.set(key, (tally.get(key) ?? 0) + 1)
    if (complaints.length === 0) return
    const request = `${sent.method} ${sent.url.pathname.slice(0, 200)}${sent.url.search.slice(0, 200)} ${(sent.body ?? '').slice(0, 800)}`
    const answer = `${got.status} ${got.body.slice(0, 800)}`
    assert.fail(
      [...complaints, `asked: ${request}`, `answered: ${answer}`, ...served.logged.slice(-1).map(describeLog)].join(
        '\n',
      ),
    )
  }

  it(`answers ${requests} generated requests by the protocol [B-35 B-36 B-37 B-38 B-41]`, async () => {
    console.log(`fuzz: ${requests} requests under the seed ${seed}`)
    await fc.assert(fc.asyncProperty(plans, ask), { numRuns: requests, seed })
    const outcomes = [...tally].sort(([, a], [, b]) => b - a).map(([key, times]) => `${key}: ${times}`)
    if (full) console.log(`fuzz: ${outcomes.join(', ')}`)
    assert.equal(Reflect.get({}, 'polluted'), undefined, 'a request reached into every object')
    // Not all requests are damaged: successful results of each kind were checked too.
    for (const kind of ['send 200', 'stream 200', 'get 200', 'list 200', 'cancel 200', 'subscribe 200', 'card 200']) {
      assert.ok((tally.get(kind) ?? 0) > 0, `no ${kind} among the answers`)
    }
  })
})

function describeLog(entry: unknown): string {
  const { message, cause } = entry as { message: string; cause?: unknown }
  return `logged: ${message}: ${cause instanceof Error ? (cause.stack ?? '') : String(cause)}`
}
