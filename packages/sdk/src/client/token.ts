import { LoquatError } from '../error.ts'
import { type SendOptions, TIMEOUT_MS } from '../transport.ts'

/** A token, and where another one comes from. */
export interface TokenOptions extends Pick<SendOptions, 'timeoutMs'> {
  /** An auth token of the user; a server application issues it. */
  authToken: string
  /**
   * Called when the token is refused; gives another one, or undefined where there is none: the client is
   * then signed out. When it rejects, or takes longer than `timeoutMs`, it is called again later.
   */
  renewToken?: (() => Promise<string | undefined>) | undefined
}

/** The token of the user, until another one takes its place. */
export class Token {
  current: string
  readonly #options: TokenOptions
  readonly #onNone: () => void
  #renewing: Promise<boolean> | undefined

  constructor(options: TokenOptions, onNone: () => void) {
    this.current = options.authToken
    this.#options = options
    this.#onNone = onNone
  }

  /**
   * Whether there is another token than one that was refused: it is asked for once for all who were
   * refused with the same. Rejects when nobody can say so now.
   */
  renew(refused: string): Promise<boolean> {
    if (this.current !== refused) return Promise.resolve(true)
    this.#renewing ??= this.#renewed().finally(() => {
      this.#renewing = undefined
    })
    return this.#renewing
  }

  async #renewed(): Promise<boolean> {
    const token = await this.#ask()
    if (token) this.current = token
    else this.#onNone()
    return Boolean(token)
  }

  /** The hook is not ours: it can throw, give no promise, or one that never settles. */
  async #ask(): Promise<string | undefined> {
    const { renewToken, timeoutMs = TIMEOUT_MS } = this.#options
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`No token came in ${timeoutMs} ms.`)), timeoutMs)
    })
    try {
      return await Promise.race([renewToken?.(), late])
    } catch (cause) {
      const message = 'The token is refused, and renewToken failed.'
      throw new LoquatError({ code: 'CLIENT_ERR_TOKEN_NOT_RENEWED', message, cause })
    } finally {
      clearTimeout(timer)
    }
  }
}
