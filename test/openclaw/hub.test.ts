/** The hub as a program, killed in the middle of what a real gateway does for it. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { assertOnce, openMortalHub } from '../agents/openclaw-hub.ts'
import { textOf } from '../agents/openclaw-stage.ts'
import { installed } from './install.ts'
import { openRealGateway } from './real-gateway.ts'
import type { RealGateway } from './real-gateway.ts'

const found = await installed()
const skip = 'missing' in found ? found.missing : false

describe('a hub that is killed in the middle of a run at a real gateway', { skip }, () => {
  let gateway: RealGateway
  before(async () => {
    gateway = await openRealGateway('program' in found ? found.program : '')
  })
  after(() => gateway?.close())

  it('finds it under way when it is back, and tells the rest: no event lost, none twice', async () => {
    gateway.mind.reset()
    const mortal = await openMortalHub(gateway)
    await mortal.begin('take your time')
    await gateway.mind.begun()
    await mortal.kill()
    await mortal.start()
    gateway.mind.release()
    assertOnce(mortal.events, await mortal.rest(), 'one two three')
    assert.equal(gateway.mind.times('take your time'), 1)
    await mortal.kill()
  })

  it('finds its end when it ended meanwhile', async () => {
    gateway.mind.reset()
    const mortal = await openMortalHub(gateway)
    await mortal.begin('take your time')
    await gateway.mind.begun()
    await mortal.kill()
    gateway.mind.release()
    await mortal.start()
    assertOnce(mortal.events, await mortal.rest(), 'one two three')
    assert.equal(gateway.mind.times('take your time'), 1)
    await mortal.kill()
  })

  it('follows what the gateway took up when both were killed', async () => {
    gateway.mind.reset()
    const mortal = await openMortalHub(gateway)
    await mortal.begin('take your time')
    await gateway.mind.begun()
    await mortal.kill()
    await gateway.stop('SIGKILL')
    gateway.mind.release()
    await gateway.start()
    await mortal.start()
    const task = await mortal.rest()
    assert.equal(task.status.state, 'TASK_STATE_COMPLETED', JSON.stringify(task.status))
    assert.equal(textOf(task), 'one two three')
    await mortal.kill()
  })
})
