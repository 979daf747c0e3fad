import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { programEnvironment } from './program-environment.ts'

describe('the environment of programs that agents start', () => {
  it('has what every program needs and nothing that may be a secret', () => {
    const ours = {
      PATH: '/bin',
      LC_ALL: 'C',
      HOME: '/root',
      API_KEY: 's',
      PARLEY_ADMIN_KEY: 's',
      NODE_OPTIONS: 'x',
      TZ: undefined,
    }
    assert.deepEqual(programEnvironment(ours), { PATH: '/bin', LC_ALL: 'C', HOME: '/root' })
  })
})
