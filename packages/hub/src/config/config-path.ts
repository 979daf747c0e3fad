/** A path in a configuration and its text form. */

export type ConfigPath = readonly (string | number)[]

/** `agents.gpt.tools[0].mcp` */
export function formatPath(path: ConfigPath): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`
    const word = /^[\w~-]+$/.test(step) ? step : JSON.stringify(step)
    return text === '' ? word : `${text}.${word}`
  }, '')
}
