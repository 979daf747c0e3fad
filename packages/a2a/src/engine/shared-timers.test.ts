import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { setSharedTimeout } from './shared-timers.ts'

/** Runs a few lines in a separate process; returns its output after it ended by itself. */
async function printedBy(lines: string): Promise<string> {
  const moduleUrl = JSON.stringify(import.meta.resolve('./shared-timers.ts'))
  const program = `const { setSharedTimeout } = await import(${moduleUrl}); ${lines}`
  const child = spawn(process.execPath, ['--conditions=parley-source', '--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let printed = ''
  child.stdout.on('data', (piece: Buffer) => (printed += piece.toString()))
  await once(child, 'close')
  return printed
}

describe('waits of one length', () => {
  it('end in the order in which they began, none of them early', async () => {
    const ended: number[] = []
    const began = performance.now()
    await new Promise<void>((resolve) => {
      for (let n = 0; n < 5; n += 1) setSharedTimeout(20, () => ended.push(n))
      setSharedTimeout(20, resolve)
    })
    assert.deepEqual(ended, [0, 1, 2, 3, 4])
    assert.ok(performance.now() - began >= 19)
  })

  it('are canceled one by one', async () => {
    const ended: string[] = []
    const first = setSharedTimeout(15, () => ended.push('first'))
    const second = setSharedTimeout(15, () => ended.push('second'))
    const done = new Promise<void>((resolve) => setSharedTimeout(15, resolve))
    second.cancel()
    second.cancel()
    await done
    first.cancel()
    assert.deepEqual(ended, ['first'])
  })

  it('may start another of their length when they end, before others that have begun', async () => {
    const ended: string[] = []
    await new Promise<void>((resolve) => {
      setSharedTimeout(30, () => setSharedTimeout(30, () => (ended.push('second of the first'), resolve())))
      setTimeout(() => setSharedTimeout(30, () => ended.push('late')), 10)
    })
    assert.deepEqual(ended, ['late', 'second of the first'])
  })

  it('end for all others when a callback throws, which is reported like in a separate timer', async () => {
    const printed = await printedBy(`
      process.on('uncaughtException', ({ message }) => console.log('uncaught', message))
      setSharedTimeout(5, () => console.log('one'))
      setSharedTimeout(5, () => { throw new Error('two') })
      setSharedTimeout(5, () => console.log('three'))
    `)
    assert.equal(printed, 'one\nthree\nuncaught two\n')
  })

  it('may be longer than a timer can be', async () => {
    const wait = setSharedTimeout(Infinity, () => assert.fail('ended'))
    await new Promise((resolve) => setTimeout(resolve, 20))
    wait.cancel()
  })

  it('keep nothing of canceled ones, however many', async () => {
    const holder = setSharedTimeout(100_000, () => {})
    const held: WeakRef<object>[] = []
    for (let n = 0; n < 10_000; n += 1) {
      const thing = { n }
      const wait = setSharedTimeout(100_000, () => void thing.n)
      held.push(new WeakRef(wait))
      wait.cancel()
    }
    // A WeakRef created in this event-loop turn keeps its target until the turn is over.
    await new Promise(setImmediate)
    setFlagsFromString('--expose-gc')
    ;(runInNewContext('gc') as () => void)()
    const left = held.filter((ref) => ref.deref() !== undefined).length
    holder.cancel()
    assert.ok(left <= 64, `${left} are left`)
  })

  it('keep the process alive until the last has ended', async () => {
    assert.equal(
      await printedBy(`setSharedTimeout(60, () => console.log('ended')); setSharedTimeout(60_000, () => {}).cancel()`),
      'ended\n',
    )
  })

  it('keep it alive again after all were canceled, and no longer once these end', { timeout: 120_000 }, async () => {
    const lines = `
      setSharedTimeout(200, () => {}).cancel()
      await new Promise(setImmediate)
      setSharedTimeout(200, () => console.log('ended'))
      const long = setSharedTimeout(600_000, () => {})
      setTimeout(() => long.cancel(), 250)`
    assert.equal(await printedBy(lines), 'ended\n')
  })
})
