/** The judge finds the known defects of the published servers that show from outside, and lists exactly what it finds. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { runConformance } from '@parley/cli/conformance'
import type { CheckResult, VersionName } from '@parley/cli/conformance'
import { sdk03 } from '../client/sdk-0.3-server.ts'
import { sdk1 } from '../client/sdk-1-server.ts'
import { judgeOptions, judgeScript } from './judge-script.ts'
import { openSecuredSdk1, token } from './sdk-1-secured.ts'

const bindings = process.env['PARLEY_FULL'] === '1' ? {} : { bindings: ['JSONRPC'] as const }

async function judge(
  open: () => Promise<{ url: string; close(): Promise<void> }>,
  version: VersionName,
): Promise<readonly CheckResult[]> {
  const peer = await open()
  try {
    return (await runConformance(peer.url, { ...judgeOptions, ...bindings, versions: [version] })).results
  } finally {
    await peer.close()
  }
}

/** Of one level: over JSON-RPC only, so that the quick mode and the long mode compare the same. */
const failedIds = (results: readonly CheckResult[], level?: string): readonly string[] =>
  [
    ...new Set(
      results
        .filter(
          ({ outcome, level: of, binding }) =>
            outcome === 'fail' && (level === undefined || (of === level && (binding ?? 'JSONRPC') === 'JSONRPC')),
        )
        .map(({ id }) => id),
    ),
  ].toSorted()

describe('the judge on the server of @a2a-js/sdk 1.3.0', { timeout: 120_000 }, () => {
  const known: Readonly<Record<string, readonly string[]>> = {
    'webhooks at any address, redirects followed, no retry': [
      'push.redirect',
      'push.retry',
      'push.url-private',
      'push.url-required',
      'push.url-valid',
    ],
    'a body over 100 kB is a page with a stack trace': ['limits.large-message'],
    'invalid messages are accepted': [
      'params.empty-part',
      'params.missing-parts',
      'params.missing-role',
      'params.wrong-types',
      'robustness.base64',
      'robustness.parts-type',
      'robustness.role-agent',
    ],
    'invalid envelopes have the code of invalid parameters': ['jsonrpc.batch', 'jsonrpc.invalid-request'],
    'texts of exceptions reach the client': ['robustness.failed-task', 'robustness.internals'],
    'deep JSON overflows the stack': ['limits.deep-json'],
  }

  it('finds its known defects', async () => {
    const results = await judge(() => sdk1('1.0', 'JSONRPC').open(judgeScript), '1.0')
    const failed = failedIds(results)
    for (const [defect, ids] of Object.entries(known)) {
      assert.deepEqual(
        ids.filter((id) => !failed.includes(id)),
        [],
        `${defect}: not found`,
      )
    }
    assert.deepEqual(failedIds(results, 'must'), expectedMusts['1.3.0'])
  })

  it('finds that its card is not valid with security schemes, and that a wrong token is an internal error', async () => {
    const peer = await openSecuredSdk1()
    try {
      const { results } = await runConformance(peer.url, { ...judgeOptions, bearer: token, only: ['card', 'auth'] })
      const failed = failedIds(results)
      assert.ok(failed.includes('card.security-schemes'), JSON.stringify(failed))
      assert.ok(failed.includes('auth.status'), JSON.stringify(failed))
    } finally {
      await peer.close()
    }
  })
})

describe('the judge on the server of @a2a-js/sdk 0.3.14', { timeout: 120_000 }, () => {
  it('lists what it breaks', async () => {
    const results = await judge(() => sdk03('JSONRPC').open(judgeScript), '0.3')
    assert.deepEqual(failedIds(results, 'must'), expectedMusts['0.3.14'])
  })
})

/** Over JSON-RPC, the musts that each breaks. */
const expectedMusts: Readonly<Record<string, readonly string[]>> = {
  '1.3.0': [
    'auth.extended-card',
    'jsonrpc.invalid-params',
    'jsonrpc.invalid-request',
    'list.invalid-history-length',
    'params.empty-part',
    'params.history-length',
    'params.missing-parts',
    'params.two-contents',
    'params.unsupported-media-type',
    'params.wrong-types',
    'push.url-valid',
    'robustness.parts-type',
    'version.patch-ignored',
  ],
  '0.3.14': [
    'auth.extended-card',
    'jsonrpc.invalid-params',
    'params.empty-part',
    'params.missing-message',
    'params.missing-parts',
    'params.missing-role',
    'params.unsupported-media-type',
    'params.wrong-types',
    'push.authorization',
    'robustness.parts-type',
  ],
}
