import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import { firstHeavyStep, heavyStep } from './heavy-step.ts'

describe('heavy steps', () => {
  it('run in order, and never two in one turn of the event loop', async () => {
    let turn = 0
    let isOver = false
    const count = (): void => {
      turn++
      if (!isOver) setImmediate(count)
    }
    setImmediate(count)
    const turns: [step: number, turn: number][] = []
    await Promise.all(
      Array.from({ length: 10 }, async (_, step) => {
        await heavyStep()
        turns.push([step, turn])
      }),
    )
    isOver = true
    assert.deepEqual(
      turns.map(([step]) => step),
      Array.from({ length: 10 }, (_, step) => step),
    )
    assert.equal(new Set(turns.map(([, at]) => at)).size, 10)
  })

  it('start again after a pause', async () => {
    await heavyStep()
    await heavyStep()
  })

  it('continue after one that failed', async () => {
    const failed = heavyStep().then(() => {
      throw new Error('broken')
    })
    const next = heavyStep()
    await assert.rejects(failed, { message: 'broken' })
    await next
    await heavyStep()
  })

  it('of started bodies come first, except for one step in so many', async () => {
    const order: string[] = []
    const begun = Array.from({ length: 80 }, (_, index) => `begun ${index}`)
    const steps = [
      ...['new 0', 'new 1', 'new 2'].map((name) => firstHeavyStep().then(() => order.push(name))),
      ...begun.map((name) => heavyStep().then(() => order.push(name))),
    ]
    await Promise.all(steps)
    assert.deepEqual(
      order.filter((step) => step.startsWith('begun')),
      begun,
    )
    const [one = 0, two = 0, three = 0] = ['new 0', 'new 1', 'new 2'].map((name) => order.indexOf(name))
    assert.deepEqual([two - one, three - two], [32, 32])
  })

  it('end the bodies of one caller before more of them begin', async () => {
    let inProgress = 0
    let most = 0
    await Promise.all(
      Array.from({ length: 10 }, async () => {
        await firstHeavyStep()
        inProgress += 1
        most = Math.max(most, inProgress)
        // As many as a body of 20 MB takes.
        for (let step = 0; step < 30; step++) await heavyStep()
        inProgress -= 1
      }),
    )
    assert.ok(most <= 2, `${most} at a time`)
  })

  it('are shared in turn by callers, however many one of them has', async () => {
    const order: string[] = []
    const of = (caller: string, step: (caller: string) => Promise<void>): Promise<unknown> =>
      step(caller).then(() => order.push(caller))
    await Promise.all([
      ...Array.from({ length: 6 }, () => of('a', heavyStep)),
      ...Array.from({ length: 2 }, () => of('b', heavyStep)),
      of('c', heavyStep),
    ])
    assert.equal(order.join(''), 'abcabaaaa')
    order.length = 0
    await Promise.all([...Array.from({ length: 3 }, () => of('a', firstHeavyStep)), of('b', firstHeavyStep)])
    assert.equal(order.join(''), 'abaa')
  })

  it('are shared in turn by requests that each need several', async () => {
    const order: number[] = []
    await Promise.all(
      [0, 1, 2].map(async (request) => {
        for (let step = 0; step < 3; step++) {
          await heavyStep()
          order.push(request)
        }
      }),
    )
    assert.deepEqual(order, [0, 1, 2, 0, 1, 2, 0, 1, 2])
  })

  it('are not lost when timers are replaced and restored in the meantime', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout', 'setImmediate'] })
    const steps = [heavyStep(), heavyStep()]
    await steps[0]
    t.mock.timers.reset()
    await Promise.all(steps)
    await heavyStep()
  })

  it('are done before a process exits', async () => {
    const file = JSON.stringify(new URL('heavy-step.ts', import.meta.url).href)
    const program = `
      const { heavyStep } = await import(${file})
      for (let step = 0; step < 3; step++) void heavyStep().then(() => heavyStep()).then(() => console.log('done'))`
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program])
    assert.equal(stdout, 'done\n'.repeat(3))
  })
})
