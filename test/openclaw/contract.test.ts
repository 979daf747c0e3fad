/** The agent contract on the kind `openclaw`, over a real gateway. */
import { after, before, describe } from 'node:test'
import { agentContract } from '@parley/a2a/testing'
import type { OpenclawFixture } from '../agents/openclaw-fixture.ts'
import { exchanges, openOpenclawFixture } from '../agents/openclaw-fixture.ts'
import { installOpenclaw } from './install.ts'
import { openRealGateway } from './real-gateway.ts'
import type { RealGateway } from './real-gateway.ts'

const found = await installOpenclaw()
const skip = 'missing' in found ? found.missing : false

/** It asks before it runs a command, if approvals are on. */
const config = { tools: { exec: { host: 'gateway', security: 'full', ask: 'always' } } }

describe('over a real gateway,', { skip }, () => {
  let gateway: RealGateway
  before(async () => {
    gateway = await openRealGateway('program' in found ? found.program : '', { config })
  })
  after(() => gateway?.close())

  const over = (entry: object) => async (): Promise<OpenclawFixture> => {
    gateway.responder.reset()
    return openOpenclawFixture(gateway, entry)
  }
  // It starts slowly, more so for the first run.
  const times = { stepTimeoutMs: 120_000, deadlineMs: 25_000 }

  agentContract('openclaw by WebSocket', { ...exchanges, ...times, open: over({ transport: 'ws' }) })

  agentContract('openclaw that asks its caller for approvals', {
    ...exchanges,
    ...times,
    open: over({ approvals: 'caller' }),
    question: {
      text: 'run the command echo hi',
      asks: /wants to run a command[^]*echo hi[^]*allow-once or deny/,
      answer: 'allow-once',
      then: 'It said: hi',
    },
  })
})
