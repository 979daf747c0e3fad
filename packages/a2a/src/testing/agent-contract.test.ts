/** The contract passes for correct agents, and detects each kind of breach. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { agentContract, agentContractTests } from './agent-contract.ts'
import type { AgentHarness } from './agent-contract/harness.ts'
import { type ContractBreach, scriptedHarness } from './fixtures/scripted-agent.ts'

agentContract('a function', scriptedHarness('fail'))
agentContract('an agent that is run again', scriptedHarness('rerun'))
agentContract('an agent that picks its work up again', scriptedHarness('reattach'))

/** For each breach, words from the names of all tests that must fail. */
const breaches: Readonly<Record<ContractBreach, readonly [AgentHarness['resume'], ...string[]]>> = {
  'leaves a timer': ['fail', 'leaves nothing behind'],
  'answers otherwise': ['fail', 'answers in 1.0', 'answers in 0.3', 'answers by a stream in 1.0'],
  'answers in one piece': ['fail', 'answers by a stream in 1.0', 'answers by a stream in 0.3'],
  'never says a word': ['fail', 'answers in 1.0', 'continues when the reader', 'back to back', 'two concurrent tasks'],
  'shares one pen among all tasks': ['fail', 'tasks at once', 'two concurrent tasks'],
  'forgets what the conversation was': ['fail', 'remembers a conversation, and never', 'after a restart'],
  'remembers by contextId alone': ['fail', 'remembers a conversation, and never', 'after a restart'],
  'remembers in the process': ['fail', 'remembers a conversation after a restart'],
  'ignores the signal': ['fail', 'is canceled in the middle', 'at its deadline', 'leaves nothing behind'],
  'fails when it is canceled': ['fail', 'is canceled in the middle'],
  'stays busy when it is stopped': ['fail', 'is canceled in the middle', 'at its deadline'],
  'completes where the backend failed': ['fail', 'fails when the backend does'],
  'fails without a word': ['fail', 'fails when the backend does'],
  'tells what is for the operator': ['fail', 'fails when the backend does'],
  'does not ask': [
    'fail',
    'asks for input, and continues',
    'asks for input by a stream',
    'while it waits',
    'accepts the answer',
  ],
  'asks twice': ['fail', 'asks for input, and continues', 'accepts the answer'],
  'gives up when it is answered': ['fail', 'asks for input, and continues'],
  'says a piece again': ['reattach', 'over memory', 'over a file', 'two processes', 'its server was closed'],
  'begins again in the same artifact': [
    'rerun',
    'over memory',
    'over a file',
    'two processes',
    'its server was closed',
  ],
  'loses the job': ['reattach', 'over memory', 'over a file', 'two processes', 'its server was closed'],
  'stops the job when the server goes': ['reattach', 'its server was closed'],
}

describe('the agent contract', () => {
  for (const [breach, [resume, ...broken]] of Object.entries(breaches)) {
    it(`detects an agent that ${breach}`, async () => {
      const trials = agentContractTests(scriptedHarness(resume, breach as ContractBreach, 250))
      const detect = async (words: string): Promise<void> => {
        const trial = trials.find(({ name }) => name.includes(words))
        assert.ok(trial !== undefined, `no test is named "${words}"`)
        await assert.rejects(trial.run(), `"${trial.name}" did not see it`)
      }
      // Most of them wait for the timeout of a step. This one counts what the whole process has open.
      const alone = 'leaves nothing behind'
      await Promise.all(broken.filter((words) => words !== alone).map(detect))
      if (broken.includes(alone)) await detect(alone)
    })
  }

  it('detects an agent that fails at a restart although it declares to resume, and vice versa', async () => {
    const detect = async (is: AgentHarness['resume'], says: AgentHarness['resume']): Promise<void> => {
      const { resume: _, ...harness } = scriptedHarness(is, undefined, 500)
      const trials = agentContractTests({ ...harness, resume: says })
      const restarts = trials.filter(({ name }) => name.includes('no event lost'))
      assert.equal(restarts.length, 4)
      await Promise.all(restarts.map((trial) => assert.rejects(trial.run(), `"${trial.name}" did not see it`)))
    }
    await Promise.all([detect('fail', 'rerun'), detect('rerun', 'fail')])
  })

  it('requires `slow` for an agent that continues after a restart', async () => {
    const { slow: _, ...harness } = scriptedHarness('rerun', undefined, 500)
    const trial = agentContractTests(harness).find(({ name }) => name.includes('over memory'))
    await assert.rejects(async () => trial?.run(), /needs `slow`/)
  })
})
