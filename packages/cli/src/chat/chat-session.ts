/**
 * A conversation in a terminal: reads lines, sends them, prints what the agent answers. The context is carried always, the task while
 * it waits for an answer.
 */
import {
  A2AError,
  credentialsExtension,
  isInterrupted,
  isTerminal,
  type Part,
  type Task,
  type TaskState,
} from '@parley/a2a'
import { linkSignals, omitUndefined } from '@parley/a2a/internal'
import type { Conversation, InputRequest, MessageInput } from '@parley/a2a/client'
import type { AgentConnection } from '../agent/connection.ts'
import type { CommandContext } from '../command.ts'
import { textOptions } from '../commands/final-output.ts'
import { readMessageParts } from '../commands/message-parts.ts'
import { CliError } from '../output/cli-error.ts'
import { neutralize } from '@parley/a2a/command-line'
import { downloadCommand, quoted } from '../output/task-text.ts'
import { field } from '../output/text.ts'
import { createTurnPrinter, stateInWords, type TurnPrinter } from '../output/turn/turn-printer.ts'
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
  #lastState: TaskState | undefined
  /** The tasks of the session that have not ended, also of earlier conversations, the oldest first. */
  readonly #openTasks = new Map<string, TaskState>()
  /** The summaries of the conversations before `/new`. */
  readonly #earlier: string[] = []
  readonly #printedMessages = new Set<string>()
  /** What Ctrl-C does now. */
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
    if (taskId !== undefined) this.#openTasks.set(taskId, 'TASK_STATE_UNSPECIFIED')
    deps.prompt.onInterrupt(() => {
      const interrupt = this.#onInterrupt
      this.#onInterrupt = undefined
      if (interrupt === undefined) this.#pendingInterrupts += 1
      else interrupt()
    })
    this.#conversation = this.#open(omitUndefined({ contextId, taskId }))
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

  /** For the end: the ids of every conversation, with the command that continues it, and the tasks that are open. */
  summary(): string {
    return [...this.#earlier, this.#conversationText(), this.#openTasksText()].filter((text) => text !== '').join('\n')
  }

  #openTasksText(): string {
    const { taskId = this.#lastTaskId } = this.#conversation
    const others = [...this.#openTasks].filter(([id]) => id !== taskId)
    return others.map(([id, state]) => field('Open Task', `${id} (${stateInWords(state)})`)).join('')
  }

  #conversationText(): string {
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

  /** The task that `/wait` and `/cancel` mean without an id. */
  #chosenTask(): string | undefined {
    if (this.#lastState === 'TASK_STATE_AUTH_REQUIRED') return this.#lastTaskId
    const open = [...this.#openTasks]
    return (open.findLast(([, state]) => !isInterrupted(state)) ?? open.at(-1))?.[0]
  }

  /** Without a task the agent has answered directly. */
  #track(taskId?: string, state?: TaskState): void {
    ;[this.#lastTaskId, this.#lastState] = [taskId, state]
    if (taskId === undefined || state === undefined) return
    if (isTerminal(state)) this.#openTasks.delete(taskId)
    else this.#openTasks.set(taskId, state)
  }

  async #send(input: MessageInput): Promise<void> {
    const metadata = this.#deps.context.settings.jsonObject('metadata')
    this.#attached = []
    this.#authRequest = undefined
    await this.#follow((signal) =>
      this.#conversation.stream(input, { signal, ...(metadata !== undefined ? { metadata: metadata as never } : {}) }),
    )
  }

  /** Prints a stream to its end, or until Ctrl-C. A subscription goes on at an interrupted state, so the reader has to stop. */
  async #follow(
    open: (signal: AbortSignal) => ReturnType<Conversation['stream']>,
    isSubscription = false,
  ): Promise<void> {
    const { context } = this.#deps
    const linked = linkSignals([context.signal])
    this.#onInterrupt = () => linked.abort(detached)
    const printer = this.#createPrinter(this.#printedMessages)
    try {
      for await (const event of open(linked.signal)) {
        if ('task' in event) this.#track(event.task.id, event.task.status.state)
        else if ('statusUpdate' in event) this.#track(event.statusUpdate.taskId, event.statusUpdate.status.state)
        else if ('message' in event) this.#track()
        await printer.print(event)
        if (isSubscription && this.#lastState !== undefined && isInterrupted(this.#lastState)) break
      }
      await printer.end()
      await this.#nameFiles(printer)
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

  async #nameFiles({ hasFiles }: TurnPrinter): Promise<void> {
    const { context, connection } = this.#deps
    if (!hasFiles || this.#lastTaskId === undefined) return
    await this.#write(field('Download', downloadCommand(this.#lastTaskId, textOptions(context, connection))))
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
        const args = { options: [{ name: name.slice(1), value: operand }], operands: [] }
        this.#attached.push(...(await readMessageParts({ ...this.#deps.context, args, optionPrefix: '/' })))
        return this.#write(`Added to the next message: ${operand}\n`)
      }
      case '/task':
        return this.#write(this.#conversationText() + this.#openTasksText() || 'There is no context yet.\n')
      case '/new':
        this.#earlier.push(this.#conversationText())
        this.#conversation = this.#open({})
        this.#track()
        this.#authRequest = undefined
        return this.#write('New context.\n')
      case '/cancel':
      case '/wait': {
        const taskId = operand || this.#chosenTask()
        if (taskId === undefined) return this.#write('There is no open task.\n')
        return name === '/wait' ? this.#wait(taskId) : this.#cancel(taskId)
      }
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
    let task: Task
    try {
      const intervalMs = context.settings.durationMs('poll-interval') ?? 2_000
      task = await connection.getTask(taskId, { signal: linked.signal })
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
    await this.#follow((signal) => connection.agent.subscribe(taskId, { signal }), true)
    this.#adopt(task)
  }

  async #showTask(task: Task): Promise<void> {
    const printer = this.#createPrinter(new Set())
    await printer.print({ task })
    await printer.end()
    this.#track(task.id, task.status.state)
    await this.#nameFiles(printer)
    this.#leaveTask(task.id)
  }

  /** After a wait, the next message answers the question of the task, also of one in an earlier conversation. */
  #adopt({ id, contextId }: Task): void {
    const state = this.#openTasks.get(id)
    if (state === undefined) return this.#leaveTask(id)
    const { contextId: before, taskId } = this.#conversation
    if (!isInterrupted(state) || taskId === id) return
    if (before !== undefined && before !== contextId) this.#earlier.push(field('Context ID', before))
    this.#conversation = this.#open({ ...omitUndefined({ contextId }), taskId: id })
  }

  /** The conversation must not send its next message to a task that has ended. */
  #leaveTask(taskId: string): void {
    const { contextId } = this.#conversation
    if (this.#conversation.taskId === taskId) this.#conversation = this.#open(omitUndefined({ contextId }))
  }

  async #cancel(taskId: string): Promise<void> {
    try {
      const { status } = await this.#deps.connection.agent.cancel(taskId)
      if (taskId === this.#lastTaskId) this.#lastState = status.state
      if (isTerminal(status.state)) this.#openTasks.delete(taskId)
      this.#leaveTask(taskId)
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
