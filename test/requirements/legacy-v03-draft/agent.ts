/** Does what the document's flows show, as the text of a message asks: it streams, asks, and names its sub-agent's task. */
import { clientToolsExtension as uri, inputRequired, status } from '@parley/a2a'
import type { Message, Report, Turn } from '@parley/a2a'

export async function* agent({ text, message, task }: Turn): AsyncGenerator<Report> {
  const answer = toolResultIn(message)
  if (answer !== undefined) {
    yield `${task.id} continues with ${JSON.stringify(answer).length} characters`
  } else if (text === 'Ask for a key') {
    const inputRequest = { kind: 'input-request', prompt: 'Enter API key:', sensitive: true, requestId: 'input-1' }
    const parts = [{ text: 'Please provide your API key' }]
    yield inputRequired({ parts, metadata: { [uri]: { inputRequest } } })
  } else if (text === 'Ask in words') {
    yield inputRequired('For which city?')
  } else if (text === 'Call a tool') {
    const data = { toolUseId: 'call-1', name: 'position', input: { exact: true } }
    yield inputRequired({ parts: [{ text: 'Where are you?' }, { data, metadata: { [uri]: { type: 'tool-use' } } }] })
  } else if (text === 'Analyze sales and create report') {
    yield status({ parts: [{ text: 'Invoking data analyzer...' }], referenceTaskIds: ['sub-456'] })
    yield 'Report'
  } else {
    yield status('Processing...')
    yield 'Based on '
    yield 'the analysis'
    yield ', sales increased 15%'
    if (text === 'Break') throw new Error('an internal detail')
  }
}

function toolResultIn({ parts }: Message): unknown {
  const part = parts.find(({ metadata }) => (metadata?.[uri] as { type?: string } | undefined)?.type === 'tool-result')
  return part !== undefined && 'data' in part ? part.data : undefined
}
