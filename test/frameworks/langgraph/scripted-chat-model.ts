/** A chat model of LangChain that answers by what the last message asks for, in pieces. Extends the package's own base class. */
import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessageChunk, type BaseMessage } from '@langchain/core/messages'
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs'

export interface Prompt {
  /** The text of the last message of the user. */
  readonly text: string
  readonly userTexts: readonly string[]
  /** The last message is the result of a tool: its content. */
  readonly toolResult: string | undefined
  readonly signal: AbortSignal | undefined
}

/** A piece of text, or a tool call. */
export type Piece = string | { readonly tool: string; readonly args: Record<string, unknown>; readonly id?: string }
export type Script = (prompt: Prompt) => Iterable<Piece> | AsyncIterable<Piece>

export class ScriptedChatModel extends BaseChatModel {
  readonly #script: Script

  constructor(script: Script) {
    super({})
    this.#script = script
  }

  override _llmType(): string {
    return 'scripted'
  }

  override bindTools(): this {
    return this
  }

  override async _generate(messages: BaseMessage[], options: this['ParsedCallOptions']): Promise<ChatResult> {
    let whole: ChatGenerationChunk | undefined
    // oxlint-disable-next-line no-underscore-dangle -- LangChain's name
    for await (const chunk of this._streamResponseChunks(messages, options)) whole = whole?.concat(chunk) ?? chunk
    if (whole === undefined) throw new Error('the script says nothing')
    return { generations: [whole] }
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this['ParsedCallOptions'],
    runManager?: { handleLLMNewToken(token: string, ...rest: unknown[]): Promise<unknown> },
  ): AsyncGenerator<ChatGenerationChunk> {
    const say = async (fields: ConstructorParameters<typeof AIMessageChunk>[0], text: string) => {
      const chunk = new ChatGenerationChunk({ message: new AIMessageChunk(fields), text })
      await runManager?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, { chunk })
      return chunk
    }
    for await (const piece of this.#script(promptOf(messages, options.signal))) {
      if (typeof piece === 'string') yield await say({ content: piece }, piece)
      else {
        const call = { name: piece.tool, args: JSON.stringify(piece.args), id: piece.id ?? 'call-1', index: 0 }
        yield await say({ content: '', tool_call_chunks: [{ ...call, type: 'tool_call_chunk' }] }, '')
      }
    }
    const usage = { input_tokens: 12, output_tokens: 5, total_tokens: 17 }
    const about = { model_name: 'scripted-model', finish_reason: 'stop' }
    yield await say({ content: '', usage_metadata: usage as never, response_metadata: about }, '')
  }
}

function promptOf(messages: readonly BaseMessage[], signal: AbortSignal | undefined): Prompt {
  const userTexts = messages.filter((message) => message.getType() === 'human').map((message) => message.text)
  const last = messages.at(-1)
  const toolResult = last?.getType() === 'tool' ? last.text : undefined
  return { text: userTexts.at(-1) ?? '', userTexts, toolResult, signal }
}
