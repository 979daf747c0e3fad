/** The agent of `server --echo`: returns the parts of the message as an artifact. */
import type { AgentFunction } from '@parley/a2a'

export const echoAgent: AgentFunction = async function* ({ message }) {
  yield { state: 'TASK_STATE_WORKING' }
  yield { artifact: { artifactId: 'echo', name: 'echo', parts: message.parts }, lastChunk: true }
}
