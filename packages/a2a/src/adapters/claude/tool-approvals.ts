/**
 * Approvals of tool calls. A hook answers `defer` for a call that needs one: Claude Code then ends the run, and the transcript holds
 * the call. A later run of the same session asks the hook again, which answers what the caller decided.
 *
 * Claude Code defers a call only if it is the only one of its message, and knows itself which calls need a permission only after the
 * hooks. For those the model gets an error that asks it to repeat the call alone, and the hook defers the repeated call.
 */
import type { Json, Struct } from '../../model/task.ts'
import type { ClaudeOptions, HookOutput, ToolHook, ToolHookInput } from './sdk-messages.ts'

/** Which tool calls need an approval: names, where a final `*` stands for any ending, or a function. */
export type ApprovalRule = readonly string[] | ((tool: string, input: Json) => boolean)

/** What the caller decided. */
export interface ToolDecision {
  readonly approved: boolean
  readonly reason?: string
  /** Replaces the arguments of the call. */
  readonly input?: Struct
}

/** The tool by which the model asks the user. It needs an answer, so it is always deferred. */
export const questionTool = 'AskUserQuestion'

const repeatAlone =
  'The user must approve this call. Make the same call again, with no other call beside it: the user is then asked.'
const notInSubAgents =
  'This call needs the approval of the user, and a sub-agent cannot ask. The main agent must make the call.'

/** The options of a run that ask for approvals. `decisions`: by the id of the tool call. */
export function approvalOptions(
  given: Pick<ClaudeOptions, 'hooks' | 'canUseTool'>,
  approve: ApprovalRule,
  decisions: ReadonlyMap<string, ToolDecision>,
): Pick<ClaudeOptions, 'hooks' | 'canUseTool'> {
  /** Tools whose next call is deferred. */
  const repeated = new Set<string>()

  async function decideCall({ tool_name, tool_input, tool_use_id, agent_id }: ToolHookInput): Promise<HookOutput> {
    const decision = decisions.get(tool_use_id)
    if (decision !== undefined) return hookOutput(decision)
    const isQuestion = tool_name === questionTool && given.canUseTool === undefined
    if (!isQuestion && !repeated.has(tool_name) && !needsApproval(approve, tool_name, tool_input)) return {}
    if (agent_id !== undefined) return hookOutput({ approved: false, reason: notInSubAgents })
    repeated.delete(tool_name)
    return { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'defer' } }
  }

  /** Called if the rules of Claude Code want a permission, also for a call that could not be deferred. */
  async function askForPermission(
    tool: string,
    input: Struct,
    { toolUseID = '', agentID }: { readonly toolUseID?: string; readonly agentID?: string },
  ): Promise<object> {
    const decision = decisions.get(toolUseID)
    if (decision?.approved === true) return { behavior: 'allow', updatedInput: decision.input ?? input }
    if (decision !== undefined) return { behavior: 'deny', message: denialText(decision) }
    if (agentID !== undefined) return { behavior: 'deny', message: notInSubAgents }
    repeated.add(tool)
    return { behavior: 'deny', message: repeatAlone }
  }

  /** A hook of the user that defers would defer the same call for ever. */
  const decided =
    (hook: ToolHook): ToolHook =>
    async (input, toolUseId, options) => {
      const output = await hook(input, toolUseId, options)
      const decision = decisions.get(input.tool_use_id)
      const isDeferred = output.hookSpecificOutput?.permissionDecision === 'defer'
      return isDeferred && decision !== undefined ? hookOutput(decision) : output
    }

  const before = given.hooks?.['PreToolUse'] ?? []
  const ofUser = before.map((matcher) => ({ ...matcher, hooks: matcher.hooks.map(decided) }))
  return {
    hooks: { ...given.hooks, PreToolUse: [...ofUser, { hooks: [decideCall] }] },
    canUseTool: given.canUseTool ?? askForPermission,
  }
}

function needsApproval(rule: ApprovalRule, tool: string, input: unknown): boolean {
  if (typeof rule === 'function') return rule(tool, input as Json)
  return rule.some((name) => (name.endsWith('*') ? tool.startsWith(name.slice(0, -1)) : tool === name))
}

function hookOutput(decision: ToolDecision): HookOutput {
  const { approved, input } = decision
  return {
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: approved ? 'allow' : 'deny',
      ...(approved ? {} : { permissionDecisionReason: denialText(decision) }),
      ...(approved && input !== undefined ? { updatedInput: input } : {}),
    },
  }
}

function denialText({ reason }: ToolDecision): string {
  return reason ?? 'The user rejected this call'
}
