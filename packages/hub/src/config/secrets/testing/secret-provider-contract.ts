/** What every provider of secrets promises. A new provider is complete when this passes. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { SecretProvider } from '../secret-provider.ts'

export interface ProviderUnderTest {
  readonly provider: SecretProvider
  /** The name of a secret, and its value. */
  readonly name: string
  readonly value: string
  /** Gives the secret another value. */
  change(value: string): Promise<void>
  /** The name of a secret whose read never ends by itself, if the provider can have one. */
  readonly hangingName?: string
}

export function secretProviderContract(title: string, open: () => Promise<ProviderUnderTest>): void {
  const never = new AbortController().signal

  describe(`${title} keeps the contract of providers`, () => {
    it('reads the exact value, also several at a time', async () => {
      const { provider, name, value } = await open()
      const read = await Promise.all([1, 2, 3].map(() => provider.read(name, never)))
      assert.deepEqual(read, [value, value, value])
    })

    it('reads the current value, not one that it remembers', async () => {
      const { provider, name, change } = await open()
      await provider.read(name, never)
      await change('another value')
      assert.equal(await provider.read(name, never), 'another value')
    })

    it('rejects an unknown name with an error that contains no secret', async () => {
      const { provider, name, value } = await open()
      await provider.read(name, never)
      await assert.rejects(provider.read('no such name', never), (reason: unknown) => {
        assert.ok(reason instanceof Error && reason.message !== '' && !reason.message.includes(value))
        return true
      })
    })

    it('treats a name as a name, whatever it contains', async () => {
      const { provider } = await open()
      for (const name of ['$(id)', '; id', '../../etc/passwd', '--help'])
        await assert.rejects(provider.read(name, never))
    })

    it('stops when the signal aborts', async () => {
      const { provider, hangingName } = await open()
      if (hangingName === undefined) return
      const stop = new AbortController()
      const reading = provider.read(hangingName, stop.signal)
      stop.abort()
      await assert.rejects(reading)
    })
  })
}
