/** The hub as a program, killed during a run at a real gateway. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { assertEachEventOnce, openOpenclawKillableHub } from '../agents/openclaw-killable-hub.ts'
import { textOf } from '../agents/openclaw-test-agent.ts'
import { installOpenclaw } from './install.ts'
import { openRealGateway } from './real-gateway.ts'
import type { RealGateway } from './real-gateway.ts'

const found = await installOpenclaw()
const skip = 'missing' in found ? found.missing : false

describe('a hub that is killed during a run at a real gateway', { skip }, () => {
  let gateway: RealGateway
  before(async () => {
    gateway = await openRealGateway('program' in found ? found.program : '')
  })
  after(() => gateway?.close())

  it('finds the run after its restart and delivers the rest, with no event lost or doubled', async () => {
    gateway.responder.reset()
    const mortal = await openOpenclawKillableHub(gateway)
    await mortal.begin('take your time')
    await gateway.responder.begun()
    await mortal.kill()
    await mortal.start()
    gateway.responder.release()
    assertEachEventOnce(mortal.events, await mortal.readRest(), 'one two three')
    assert.equal(gateway.responder.times('take your time'), 1)
    await mortal.kill()
  })

  it('finds the end of a run that ended in the meantime', async () => {
    gateway.responder.reset()
    const mortal = await openOpenclawKillableHub(gateway)
    await mortal.begin('take your time')
    await gateway.responder.begun()
    await mortal.kill()
    gateway.responder.release()
    await mortal.start()
    assertEachEventOnce(mortal.events, await mortal.readRest(), 'one two three')
    assert.equal(gateway.responder.times('take your time'), 1)
    await mortal.kill()
  })

  it('follows the run that the gateway resumed after both were killed', async () => {
    gateway.responder.reset()
    const mortal = await openOpenclawKillableHub(gateway)
    await mortal.begin('take your time')
    await gateway.responder.begun()
    await mortal.kill()
    await gateway.stop('SIGKILL')
    gateway.responder.release()
    await gateway.start()
    await mortal.start()
    const task = await mortal.readRest()
    assert.equal(task.status.state, 'TASK_STATE_COMPLETED', JSON.stringify(task.status))
    assert.equal(textOf(task), 'one two three')
    await mortal.kill()
  })
})
