/** What the user can do after an agent has refused the version of the protocol. */
import { A2AError } from '@parley/a2a/client'
import { versionIds } from '@parley/a2a/internal'
import { defaultVersion } from '../agent/call-settings.ts'
import { withHint } from './cli-error.ts'

/** Adds what else the user can name, after the agent has refused `--a2a-version`, or the default. */
export function withVersionHint(reason: unknown, requested: string = defaultVersion): unknown {
  if (!(reason instanceof A2AError) || reason.code !== 'VERSION_NOT_SUPPORTED') return reason
  const refused = /\d+\.\d+/.exec(requested)?.[0]
  const others = versionIds.filter((version) => version !== refused)
  const offered = offeredVersions(reason).filter((version) => version !== refused)
  const usable = others.filter((version) => offered.includes(version))
  if (usable.length > 0)
    return withHint(reason, `The agent offers another version: --a2a-version ${usable.join(' or ')}`)
  return offered.length > 0
    ? withHint(reason, `The agent offers ${offered.join(', ')}. This program speaks ${versionIds.join(', ')}.`)
    : withHint(reason, `Name a version that the agent supports: --a2a-version ${others.join(' or ')}`)
}

/** From the error of the agent, or from its card. */
function offeredVersions(error: A2AError): readonly string[] {
  const texts: string[] = []
  for (let reason: unknown = error; reason instanceof A2AError; reason = reason.cause)
    for (const detail of [reason.details['supportedVersions'], reason.details['offered']])
      if (typeof detail === 'string') texts.push(detail)
  // On the card beside a URL, whose address is no version.
  return [...new Set(texts.join(' ').match(/(?<=^|[\s,])\d+\.\d+(?=$|[\s,.])/g) ?? [])]
}
