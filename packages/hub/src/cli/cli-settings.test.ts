import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { testFlags } from './testing/test-terminal.ts'
import { overridesOf } from './cli-settings.ts'

function overrides(words: string, environment: Record<string, string> = {}): ReturnType<typeof overridesOf> {
  return overridesOf(testFlags('up', ...words.split(' ').filter((word) => word !== '')), environment)
}

const nothing = { listen: {}, store: {}, admin: {} }

describe('what the environment and flags say over the file', () => {
  it('is nothing if they say nothing', () => {
    assert.deepEqual(overrides(''), nothing)
  })

  it('is what the environment says [S0-35]', () => {
    const environment = {
      PORT: '8080',
      BIND_HOST: '0.0.0.0',
      GRPC_PORT: '8081',
      PARLEY_STORE: 'memory:',
      PARLEY_STORE_DIRECT: 'none',
      PARLEY_MASTER_KEY: 'm',
      PARLEY_ADMIN_KEY: 'a-key-of-the-hub',
    }
    assert.deepEqual(overrides('', environment), {
      listen: { host: '0.0.0.0', port: 8080, grpcPort: 8081 },
      store: { url: 'memory:', direct: 'none', masterKey: 'm' },
      admin: { key: 'a-key-of-the-hub' },
    })
  })

  it('is what flags say rather than the environment', () => {
    const environment = { PORT: '1', PARLEY_STORE: 'sqlite:' }
    const said = overrides('--port 2 --store memory: --host ::1 --grpc-port 3', environment)
    assert.deepEqual(said, { ...nothing, listen: { host: '::1', port: 2, grpcPort: 3 }, store: { url: 'memory:' } })
  })

  it('disables gRPC with an empty port, and leaves a port that nobody set to the configuration', () => {
    assert.deepEqual(overrides('', { GRPC_PORT: '' }).listen, { grpcPort: false })
    assert.deepEqual(overrides('--port 0').listen, { port: 0 })
    assert.deepEqual(overrides('--port 0', { GRPC_PORT: '5' }).listen, { port: 0, grpcPort: 5 })
  })

  it('is nothing where a variable is set to nothing', () => {
    assert.deepEqual(overrides('', { PORT: '', BIND_HOST: '', PARLEY_STORE: '' }), nothing)
  })

  it('complains by the name that was used', () => {
    assert.throws(
      () => overrides('', { PORT: 'http' }),
      /^CliError: PORT must be a number from 0 to 65535, not "http"\.$/,
    )
    assert.throws(() => overrides('--port 99999'), /--port must be a number/)
    assert.throws(() => overrides('--grpc-port x'), /--grpc-port must be/)
    assert.throws(() => overrides('', { PARLEY_ADMIN_KEY: 'wrong' }), /^CliError: PARLEY_ADMIN_KEY is shorter than 16/)
  })
})
