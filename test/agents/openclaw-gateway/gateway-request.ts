/** What is asked of the fake gateway, and what it answers. */
export type GatewayParams = Readonly<Record<string, unknown>>
export type GatewayResult =
  | { readonly payload: unknown }
  | { readonly code: string; readonly message: string; readonly details?: object }
