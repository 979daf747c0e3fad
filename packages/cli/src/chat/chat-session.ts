/**
 * A conversation in a terminal: reads lines, sends them, prints what the agent answers. The context is carried always, the task while
 * it waits for an answer.
 */
import { A2AError, credentialsExtension, isInterrupted, isTerminal, linkSignals } from '@parley/a2a'
import type { Part, Task } from '@parley/a2a'
import type { Conversation, InputRequest, MessageInput } from '@parley/a2a/client'
import type { AgentConnection } from '../agent/connection.ts'
import type { CommandContext } from '../command.ts'
import { readMessageParts } from '../commands/message-parts.ts'
import { CliError } from '../output/cli-error.ts'
import { neutralize } from '../output/sanitize.ts'
import { quoted } from '../output/task-text.ts'
import { field } from '../output/text.ts'
import { createTurnPrinter, type TurnPrinter } from '../output/turn/turn-printer.ts'
import { obtainInTaskToken } from './in-task-login.ts'
import type { LinePrompt } from './line-prompt.ts'
import { parseSlashCommand, slashHelp } from './slash-commands.ts'

export interface ChatDeps {
  readonly context: CommandContext
  readonly connection: AgentConnection
  readonly prompt: LinePrompt
}

/** Why reading a turn ended early. */
const detached = new Error('detached')

export class ChatSession {
  readonly #deps: ChatDeps
  #conversation: Conversation
  /** Parts for the next message. */
  #attached: Part[] = []
  /** The last task of the conversation, whether or not it waits. */
  #lastTaskId: string | undefined
  #lastState: Task['status']['state'] | undefined
  /** What Ctrl-C does now. */
  readonly #printedMessages = new Set<string>()
  #onInterrupt: (() => void) | undefined
  /** How often Ctrl-C was pressed when there was nothing to interrupt: it counts for the next prompt. */
  #pendingInterrupts = 0
  /** The question that the open task waits for, if the answer is a credential. */
  #authRequest: InputRequest | undefined

  constructor(deps: ChatDeps) {
    this.#deps = deps
    const { settings } = deps.context
    const [contextId, taskId] = [settings.value('context-id'), settings.value('task-id')]
    this.#lastTaskId = taskId
    deps.prompt.onInterrupt(() => {
      const interrupt = this.#onInterrupt
      this.#onInterrupt = undefined
      if (interrupt === undefined) this.#pendingInterrupts += 1
      else interrupt()
    })
    this.#conversation = this.#open({
      ...(contextId !== undefined ? { contextId } : {}),
      ...(taskId !== undefined ? { taskId } : {}),
    })
  }

  #open(ids: { readonly contextId?: string; readonly taskId?: string }): Conversation {
    return this.#deps.connection.agent.chat({
      ...ids,
      onInputRequired: (request) => this.#answerRequest(request),
    })
  }

  /** Until the user leaves. `first` is sent before the first prompt. */
  async run(first: readonly Part[] | undefined): Promise<void> {
    if (first !== undefined) await this.#send(first)
    for (;;) {
      const line = await this.#readMessage()
      if (line === undefined) return
      if (line.trim() === '' && this.#attached.length === 0) continue
      const command = parseSlashCommand(line)
      if (command?.name === '/exit') return
      try {
        if (command !== undefined) await this.#runCommand(command.name, command.operand)
        else
          await this.#send([...(line.trim() === '' ? [] : [{ text: line.replace(/^\/\//, '/') }]), ...this.#attached])
      } catch (reason) {
        await this.#report(reason)
      }
    }
  }

  /** The ids and the command that continues, for the end. */
  summary(): string {
    const { contextId, taskId } = this.#conversation
    const { terminal } = this.#deps.context
    const task = taskId ?? this.#lastTaskId
    const ids = [
      ...(contextId === undefined ? [] : [`--context-id ${quoted(contextId)}`]),
      ...(taskId === undefined ? [] : [`--task-id ${quoted(taskId)}`]),
    ]
    return [
      contextId === undefined ? '' : field('Context ID', contextId),
      task === undefined ? '' : field('Task ID', task),
      this.#lastState === undefined ? '' : field('State', this.#lastState),
      ids.length === 0
        ? ''
        : field('Resume', `${terminal.program} chat ${this.#deps.connection.resumeArgs} ${ids.join(' ')}`),
    ].join('')
  }

  async #readMessage(): Promise<string | undefined> {
    const { prompt } = this.#deps
    const leave = new AbortController()
    if (this.#pendingInterrupts > 0) {
      this.#pendingInterrupts -= 1
      leave.abort()
    } else this.#onInterrupt = () => leave.abort()
    try {
      let text = ''
      for (;;) {
        const line = await prompt.ask(text === '' ? this.#promptText() : '… ', { signal: leave.signal })
        if (line === undefined) return text === '' ? undefined : text
        if (!line.endsWith('\\')) return text + line
        text += `${line.slice(0, -1)}\n`
      }
    } catch (reason) {
      if (!leave.signal.aborted) throw reason
      // Ctrl-C after the first one, which only stopped waiting.
      const running = this.#runningTask()
      await this.#write('\n')
      if (running === undefined) return undefined
      await this.#cancel(running)
      return ''
    } finally {
      this.#onInterrupt = undefined
    }
  }

  #promptText(): string {
    if (this.#lastState === 'TASK_STATE_AUTH_REQUIRED') return '[auth required] > '
    return this.#lastState === 'TASK_STATE_INPUT_REQUIRED' ? '[input required] > ' : '> '
  }

  /** A task that was left while it worked. */
  #runningTask(): string | undefined {
    const state = this.#lastState
    return state === undefined || isTerminal(state) || isInterrupted(state) ? undefined : this.#lastTaskId
  }

  async #send(input: MessageInput): Promise<void> {
    const metadata = this.#deps.context.settings.jsonObject('metadata')
    this.#attached = []
    this.#authRequest = undefined
    await this.#follow((signal) =>
      this.#conversation.stream(input, { signal, ...(metadata !== undefined ? { metadata: metadata as never } : {}) }),
    )
  }

  /** Prints a stream to its end, or until Ctrl-C. */
  async #follow(open: (signal: AbortSignal) => ReturnType<Conversation['stream']>): Promise<void> {
    const { context } = this.#deps
    const linked = linkSignals([context.signal])
    this.#onInterrupt = () => linked.abort(detached)
    const printer = this.#createPrinter(this.#printedMessages)
    try {
      for await (const event of open(linked.signal)) {
        if ('task' in event) [this.#lastTaskId, this.#lastState] = [event.task.id, event.task.status.state]
        else if ('statusUpdate' in event)
          [this.#lastTaskId, this.#lastState] = [event.statusUpdate.taskId, event.statusUpdate.status.state]
        else if ('message' in event) [this.#lastTaskId, this.#lastState] = [undefined, undefined]
        await printer.print(event)
      }
      await printer.end()
    } catch (reason) {
      await printer.end()
      if (linked.signal.reason !== detached) throw reason
      await this.#explainDetached()
    } finally {
      this.#onInterrupt = undefined
      linked.end()
    }
  }

  #createPrinter(printedMessages: Set<string>): TurnPrinter {
    const { hasStyles, isVerbose } = this.#deps.context.output
    return createTurnPrinter({ hasStyles, isVerbose, printedMessages, write: (text) => this.#write(text) })
  }

  async #explainDetached(): Promise<void> {
    const id = this.#runningTask()
    if (id === undefined) return this.#write('Stopped waiting.\n')
    await this.#write(`Stopped waiting; task ${neutralize(id)} continues. /wait follows it, Ctrl-C again cancels it.\n`)
  }

  /** Called by the conversation when the agent asks. Questions without a secret are answered at the next prompt. */
  async #answerRequest(request: InputRequest): Promise<MessageInput | undefined> {
    if (!request.isAuthRequired && !request.sensitive) return undefined
    this.#authRequest = request
    if (request.isAuthRequired) await this.#write(authHelp)
    if (!request.sensitive) return undefined
    const answer = await this.#deps.prompt.ask('Secret (not shown, empty: later): ', { isHidden: true })
    if (answer === undefined || answer === '') return undefined
    if (parseSlashCommand(answer)?.name === '/login') return this.#obtainToken()
    this.#deps.context.output.redact(answer)
    return answer
  }

  async #obtainToken(): Promise<string | undefined> {
    const request = this.#authRequest
    if (request?.schemes === undefined) {
      await this.#write('The agent names no scheme to log in with. Obtain the credential as it asks, and reply.\n')
      return undefined
    }
    const { context, connection } = this.#deps
    return obtainInTaskToken(request.schemes, context, connection, (text) => void this.#write(`${neutralize(text)}\n`))
  }

  async #runCommand(name: string, operand: string): Promise<void> {
    switch (name) {
      case '/help':
        return this.#write(`${slashHelp()}\n`)
      case '/file':
      case '/data': {
        const options = [{ name: name.slice(1), value: operand }]
        this.#attached.push(...(await readMessageParts({ ...this.#deps.context, args: { options, operands: [] } })))
        return this.#write(`Added to the next message: ${operand}\n`)
      }
      case '/task':
        return this.#write(this.summary() || 'There is no context yet.\n')
      case '/new':
        this.#conversation = this.#open({})
        ;[this.#lastTaskId, this.#lastState, this.#authRequest] = [undefined, undefined, undefined]
        return this.#write('New context.\n')
      case '/cancel':
        return this.#lastTaskId === undefined
          ? this.#write('There is no task to cancel.\n')
          : this.#cancel(this.#lastTaskId)
      case '/wait':
        return this.#lastTaskId === undefined
          ? this.#write('There is no task to wait for.\n')
          : this.#wait(this.#lastTaskId)
      case '/login': {
        const token = await this.#obtainToken()
        return token === undefined ? undefined : this.#send([credentialPart(token, this.#authRequest?.schemes)])
      }
      default:
        return this.#write(`Unknown command ${name}. /help lists the commands; // begins a message with a slash.\n`)
    }
  }

  /** A task that waits for a credential is polled until the agent has it (A2A §7.6); then its events are printed. */
  async #wait(taskId: string): Promise<void> {
    const { context, connection } = this.#deps
    const linked = linkSignals([context.signal])
    this.#onInterrupt = () => linked.abort(detached)
    try {
      const intervalMs = context.settings.durationMs('poll-interval') ?? 2_000
      let task = await connection.getTask(taskId, { signal: linked.signal })
      while (isInterrupted(task.status.state)) {
        await pause(intervalMs, linked.signal)
        task = await connection.getTask(taskId, { signal: linked.signal })
      }
      if (isTerminal(task.status.state)) return await this.#showTask(task)
    } catch (reason) {
      if (linked.signal.reason !== detached) throw reason
      return await this.#write('Stopped waiting.\n')
    } finally {
      this.#onInterrupt = undefined
      linked.end()
    }
    await this.#follow((signal) => connection.agent.subscribe(taskId, { signal }))
  }

  async #showTask(task: Task): Promise<void> {
    const printer = this.#createPrinter(new Set())
    await printer.print({ task })
    await printer.end()
    this.#lastState = task.status.state
    // The conversation must not send its next message to a task that has ended.
    if (this.#conversation.taskId === task.id)
      this.#conversation = this.#open(task.contextId === undefined ? {} : { contextId: task.contextId })
  }

  async #cancel(taskId: string): Promise<void> {
    try {
      const { status } = await this.#deps.connection.agent.cancel(taskId)
      this.#lastState = status.state
      const { contextId } = this.#conversation
      this.#conversation = this.#open(contextId === undefined ? {} : { contextId })
      await this.#write(`Task ${neutralize(taskId)}: ${status.state}\n`)
    } catch (reason) {
      await this.#report(reason)
    }
  }

  /** A failed turn does not end the chat; a failed login or connection is shown with its hint. */
  async #report(reason: unknown): Promise<void> {
    const { signal } = this.#deps.context
    signal.throwIfAborted()
    if (!(reason instanceof A2AError || reason instanceof CliError)) throw reason
    const cause = reason.cause instanceof CliError ? reason.cause : reason
    const hint = cause instanceof CliError && cause.hint !== undefined ? `\nHint: ${cause.hint}` : ''
    this.#deps.context.output.note(`Error: ${cause.message}${hint}`)
  }

  #write(text: string): Promise<void> {
    return this.#deps.context.terminal.write(text)
  }
}

/** Marked, so that the agent neither stores nor logs it. */
function credentialPart(token: string, schemes: InputRequest['schemes'] = {}): Part {
  const [scheme, ...others] = Object.keys(schemes)
  const about = scheme !== undefined && others.length === 0 ? { scheme } : {}
  return { data: { ...about, credentials: token }, metadata: { [credentialsExtension]: { type: 'credentials' } } }
}

const authHelp =
  'The agent needs a credential. Reply with it if the agent asks for that, /login to obtain a token of these schemes,\n' +
  'or /wait after you signed in elsewhere.\n'

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    }, ms)
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
  })
}
