/** Our server as `serve()` sets it up: SQLite, every commit on disk before a client sees it. */
import { join } from 'node:path'
import { type Agent, artifact, reply } from '@parley/a2a'
import { serve } from '@parley/a2a/node'
import { sqliteStore } from '@parley/a2a/stores/sqlite'
import { type AgentName, answer, chunkText } from '../workload.ts'
import { createAnnouncements, runContestant } from './child-process.ts'

const announcementFeed = createAnnouncements()
const directory = process.argv[2] ?? '.'

const agents = {
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

const server = await serve({ port: 0, store: sqliteStore(join(directory, 'tasks.db')), agents })
runContestant({
  port: Number(new URL(server.url).port),
  announce: announcementFeed.publish,
  close: () => server.close(),
})
