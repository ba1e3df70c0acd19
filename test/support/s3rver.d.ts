/** What is used here of s3rver, whose published types are of an older version. */
declare module 's3rver' {
  interface StoredObject {
    bucket: string
    key: string
  }

  export default class S3rver {
    readonly store: {
      putObject(object: StoredObject): Promise<{ size: number }>
      getResourcePath(bucket: string, key: string, resource: 'object'): string
    }
    constructor(options: {
      address: string
      port: number
      silent: boolean
      directory: string
      configureBuckets: { name: string; configs: string[] }[]
    })
    run(): Promise<{ address: string; port: number }>
    close(): Promise<void>
  }
}
