import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type CpuProfile, profileShares } from './profile-shares.ts'

const node = (id: number, url: string, children: readonly number[] = [], functionName = 'f') => ({
  id,
  callFrame: { functionName, url },
  children,
})

const profile: CpuProfile = {
  nodes: [
    node(1, '', [2, 5, 6, 7], '(root)'),
    node(2, 'node:_http_server', [3]),
    node(3, 'file:///x/packages/hub/src/auth/api-keys.ts', [4]),
    // Called by the authentication: its time counts there.
    node(4, 'node:internal/crypto/hash'),
    node(5, '', [], '(idle)'),
    node(6, 'file:///x/packages/a2a/src/stores/sqlite/commit-writer.ts', [8]),
    node(7, 'node:internal/modules/esm/load'),
    // Written by the store, although it is a function of Node's HTTP code.
    node(8, 'node:_http_outgoing'),
  ],
  samples: [2, 3, 4, 5, 6, 7, 8],
  timeDeltas: [100, 100, 200, 5_000, 300, 9_000, 300],
}

const sharesOf = (profiles: readonly CpuProfile[]): Readonly<Record<string, number>> =>
  Object.fromEntries(profileShares(profiles).map(({ component, share }) => [component, share]))

describe('the shares of a CPU profile', () => {
  it('counts a call for the component that made it, without idle time and the start', () => {
    assert.deepEqual(sharesOf([profile]), { store: 0.6, authentication: 0.3, http: 0.1 })
  })

  it('adds up several profiles, largest share first', () => {
    assert.deepEqual(sharesOf([profile, profile]), { store: 0.6, authentication: 0.3, http: 0.1 })
    assert.equal(profileShares([profile])[0]?.component, 'store')
  })

  it('has no shares without samples', () => {
    assert.deepEqual(profileShares([{ nodes: [], samples: [], timeDeltas: [] }]), [])
  })
})
