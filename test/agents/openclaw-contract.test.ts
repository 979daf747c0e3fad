/** The agent contract on the kind `openclaw`, over a gateway that is not real but does as the real one does. */
import { agentContract } from '@parley/a2a/testing'
import type { OpenclawBench } from './openclaw-bench.ts'
import { exchanges, openBench } from './openclaw-bench.ts'
import { openFakeGateway } from './openclaw-gateway/gateway.ts'
import type { Trouble } from './openclaw-gateway/trouble.ts'

/** A gateway of its own for each test. */
const over =
  (entry: object, trouble: Partial<Trouble> = {}) =>
  async (): Promise<OpenclawBench> => {
    const gateway = await openFakeGateway()
    Object.assign(gateway.trouble, trouble)
    const bench = openBench(gateway, entry)
    const close = async (): Promise<void> => {
      await bench.close()
      await gateway.close()
    }
    // The connections of a process die with it, and the HTTP endpoint stops what they waited for.
    const reopen = (): ReturnType<typeof bench.reopen> => {
      gateway.cutHttp()
      return bench.reopen()
    }
    return { ...bench, reopen, close }
  }

agentContract('openclaw by WebSocket', { ...exchanges, open: over({ transport: 'ws' }) })

agentContract('openclaw that asks its caller for approvals', {
  ...exchanges,
  open: over({ approvals: 'caller' }, { asksForApproval: true }),
  question: {
    text: 'run the command echo hi',
    asks: /wants to run a command[^]*echo hi[^]*allow-once or deny/,
    answer: 'allow-once',
    then: 'It said: hi',
  },
})

agentContract('openclaw by HTTP', {
  ...exchanges,
  open: over({ transport: 'http' }),
  failing: { ...exchanges.failing, hidden: 'secret-host' },
  resume: 'fail',
})
