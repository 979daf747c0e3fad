/** The scripted agent, as one that does not stream. */
import { agent } from './scripted-agent.ts'

export const plodder = { agent, streaming: false, description: 'Does not stream' }
