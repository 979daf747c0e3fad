/** The agent contract on the kind `openclaw`, over a fake gateway that behaves like the real one. */
import { agentContract } from '@parley/a2a/testing'
import type { OpenclawFixture } from './openclaw-fixture.ts'
import { exchanges, openOpenclawFixture } from './openclaw-fixture.ts'
import { openFakeGateway } from './openclaw-gateway/gateway.ts'
import type { GatewayFaults } from './openclaw-gateway/faults.ts'

/** A separate gateway for each test. */
const over =
  (entry: object, trouble: Partial<GatewayFaults> = {}) =>
  async (): Promise<OpenclawFixture> => {
    const gateway = await openFakeGateway()
    Object.assign(gateway.faults, trouble)
    const fixture = openOpenclawFixture(gateway, entry)
    const close = async (): Promise<void> => {
      await fixture.close()
      await gateway.close()
    }
    // The connections of a process end with it, and the HTTP endpoint stops the runs they waited for.
    const reopen = (): ReturnType<typeof fixture.reopen> => {
      gateway.cutHttp()
      return fixture.reopen()
    }
    return { ...fixture, reopen, close }
  }

agentContract('openclaw by WebSocket', { ...exchanges, open: over({ transport: 'ws' }) })

agentContract('openclaw that asks its caller for approvals [full]', {
  ...exchanges,
  open: over({ approvals: 'caller' }, { asksForApproval: true }),
  question: {
    text: 'run the command echo hi',
    asks: /wants to run a command[^]*echo hi[^]*allow-once or deny/,
    answer: 'allow-once',
    then: 'It said: hi',
  },
})

agentContract('openclaw by HTTP [full]', {
  ...exchanges,
  open: over({ transport: 'http' }),
  failing: { ...exchanges.failing, hidden: 'secret-host' },
  resume: 'fail',
})
