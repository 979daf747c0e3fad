/** A mistake in what the operator wrote, not in what a client sent: where it is, and the sentence that mends it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  /** Such as `agents.echo.name`. */
  readonly path: string

  constructor(path: string, message: string) {
    super(`${path}: ${message}`)
    this.path = path
  }
}
