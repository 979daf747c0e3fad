/** The chunks of a stream of Mastra that mean the same in every run, as reports of the turn. */
import { isStruct } from '../../model/struct.ts'
import { bytesToBase64 } from '../../client/attachment-part.ts'
import type { RunRecorder } from '../run-recorder.ts'
import { usageOf, type StreamChunk } from './stream-chunks.ts'

/** Reports a chunk: reasoning, tool calls, files, structured output and model calls. */
export function reportChunk(chunk: StreamChunk, out: RunRecorder): void {
  switch (chunk.type) {
    case 'reasoning-delta':
      out.reasoning(chunk.payload.text)
      return
    case 'tool-call':
      out.toolStarted(callOf(chunk.payload), chunk.payload.args)
      return
    case 'tool-result': {
      const { isError, result } = chunk.payload
      out.toolEnded({ ...callOf(chunk.payload), outcome: isError === true ? 'failed' : 'succeeded', result })
      return
    }
    case 'tool-error':
      out.toolEnded({ ...callOf(chunk.payload), outcome: 'failed' })
      return
    case 'tool-output-denied':
      out.toolEnded({ ...callOf(chunk.payload), outcome: 'failed', result: 'denied' })
      return
    case 'tool-output': {
      const { output } = chunk.payload
      // The stream of an agent that is a tool: chunks like these, one per token.
      const isChunk = isStruct(output) && 'from' in output && 'runId' in output
      if (!isChunk) out.toolProgress(callOf(chunk.payload), output)
      return
    }
    case 'file': {
      const { base64, data, mimeType: mediaType, filename } = chunk.payload
      const raw = base64 ?? (data instanceof Uint8Array ? bytesToBase64(data) : data)
      if (typeof raw !== 'string') return
      const about = filename === undefined ? {} : { filename }
      out.part({ raw, mediaType: mediaType ?? 'application/octet-stream', ...about })
      return
    }
    case 'object-result':
      out.data(chunk.object)
      return
    case 'step-finish': {
      const { output, stepResult, metadata } = chunk.payload
      out.modelEnded({ model: metadata?.modelId, usage: usageOf(output.usage), finishReason: stepResult?.reason })
      return
    }
    default:
  }
}

function callOf({ toolCallId, toolName }: { readonly toolCallId: string; readonly toolName: string }): {
  readonly id: string
  readonly name: string
} {
  return { id: toolCallId, name: toolName }
}
