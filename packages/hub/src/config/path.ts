/** Where something stands in a configuration, and how that is written. */

export type Path = readonly (string | number)[]

/** `agents.gpt.tools[0].mcp` */
export function pathText(path: Path): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`
    const word = /^[\w~-]+$/.test(step) ? step : JSON.stringify(step)
    return text === '' ? word : `${text}.${word}`
  }, '')
}
