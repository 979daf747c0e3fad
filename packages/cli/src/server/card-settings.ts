/** The card of a local server: from the options, from a file, or from the agent that it forwards to. */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { AgentCard } from '@parley/a2a'
import { cardInfo, isStruct, type CardInfo } from '@parley/a2a/internal'
import type { AgentSettings } from '@parley/a2a/server'
import type { Settings } from '../args/settings.ts'
import { CliError, usageError } from '../output/cli-error.ts'
import { fileErrorText } from '../output/file-error.ts'

/** What the card says of the agent itself; interfaces and security are those of the local server. */
export type CardText = Partial<
  Pick<
    AgentSettings,
    | 'name'
    | 'description'
    | 'version'
    | 'skills'
    | keyof CardInfo
    | 'inputModes'
    | 'outputModes'
    | 'streaming'
    | 'extensions'
  >
>

/** The options win over the file, and the file over `base`. */
export async function cardText(settings: Settings, cwd: string, base: CardText): Promise<CardText> {
  const file = settings.value('card')
  const name = settings.value('name')
  const description = settings.value('description')
  return {
    ...base,
    ...(file === undefined ? {} : await readCardFile(file, cwd)),
    ...(name !== undefined ? { name } : {}),
    ...(description !== undefined ? { description } : {}),
  }
}

/** The signatures and security schemes of the card stay behind: they do not hold for the local server. */
export function textOfCard(card: AgentCard): CardText {
  const { name, description, version, skills, capabilities } = card
  return {
    name,
    description,
    version,
    skills,
    inputModes: card.defaultInputModes,
    outputModes: card.defaultOutputModes,
    streaming: capabilities.streaming === true,
    ...cardInfo(card),
    ...(capabilities.extensions !== undefined ? { extensions: capabilities.extensions } : {}),
  }
}

async function readCardFile(path: string, cwd: string): Promise<CardText> {
  let text: string
  try {
    text = await readFile(resolve(cwd, path), 'utf8')
  } catch (cause) {
    throw usageError(`--card ${path}: ${fileErrorText(cause)}.`)
  }
  const card = parseCard(text)
  if (card === undefined)
    throw new CliError('A2ACLI_ERR_CARD_INVALID', `--card ${path}: not a JSON object with a name.`)
  const { skills, defaultInputModes, defaultOutputModes, capabilities, ...rest } = textFields(card)
  return {
    ...rest,
    ...(skills !== undefined ? { skills } : {}),
    ...(defaultInputModes !== undefined ? { inputModes: defaultInputModes } : {}),
    ...(defaultOutputModes !== undefined ? { outputModes: defaultOutputModes } : {}),
    ...(capabilities?.streaming === false ? { streaming: false } : {}),
    ...(capabilities?.extensions !== undefined ? { extensions: capabilities.extensions } : {}),
  }
}

function parseCard(text: string): Partial<AgentCard> | undefined {
  try {
    const card: unknown = JSON.parse(text)
    return isStruct(card) && typeof card['name'] === 'string' ? card : undefined
  } catch {
    return undefined
  }
}

function textFields(card: Partial<AgentCard>) {
  const { name, description, version } = card
  const { skills, defaultInputModes, defaultOutputModes, capabilities } = card
  return {
    ...(name !== undefined ? { name } : {}),
    ...(description !== undefined ? { description } : {}),
    ...(version !== undefined ? { version } : {}),
    ...cardInfo(card),
    skills,
    defaultInputModes,
    defaultOutputModes,
    capabilities,
  }
}
