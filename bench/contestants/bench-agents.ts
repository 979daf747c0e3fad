/** The agents of every contestant that is ours: the SDK serves them as functions, the hub as a module. */
import { type Agent, artifact, reply } from '@parley/a2a'
import { type AgentName, answer, chunkText } from '../workload.ts'
import { announcementFeed } from './child-process.ts'

export const agents = {
  message: () => reply(answer),

  async *task() {
    yield { state: 'TASK_STATE_WORKING' }
    yield artifact('answer', { text: answer })
  },

  async *stream({ text }) {
    const count = Number(text)
    yield { state: 'TASK_STATE_WORKING' }
    for (let index = 0; index < count; index++) yield chunkText(index)
  },

  async *announcer() {
    yield { state: 'TASK_STATE_WORKING' }
    let append = false
    while (true) {
      const text = await new Promise<string>((resolve) => {
        const stop = announcementFeed.each((each) => (stop(), resolve(each)))
      })
      yield artifact('news', { text, append })
      append = true
    }
  },
} satisfies Record<AgentName, Agent>

/** By name, for the hub: an entry names an export of this file. */
export const { message, task, stream, announcer } = agents
