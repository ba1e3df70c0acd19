/** Requests to S3 as moto verifies them, which calculates their signatures with Amazon's own library. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { S3Client } from '../../../src/database/backup/remote/s3-client.ts'
import { findPythonWith } from '../../support/python-packages.ts'

/** Prints the address and the key of a user who may do everything, once signatures are verified. */
const SERVER = `
import boto3, json, requests, threading
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(port=0, verbose=False)
server.start()
url = 'http://%s:%s' % server.get_host_and_port()
known = dict(endpoint_url=url, region_name='us-east-1', aws_access_key_id='any', aws_secret_access_key='any')
iam = boto3.client('iam', **known)
iam.create_user(UserName='tally')
allow = {'Version': '2012-10-17', 'Statement': [{'Effect': 'Allow', 'Action': '*', 'Resource': '*'}]}
iam.put_user_policy(UserName='tally', PolicyName='all', PolicyDocument=json.dumps(allow))
key = iam.create_access_key(UserName='tally')['AccessKey']
boto3.client('s3', **known).create_bucket(Bucket='backups')
requests.post(url + '/moto-api/reset-auth', data='0')
print(json.dumps([url, key['AccessKeyId'], key['SecretAccessKey']]), flush=True)
threading.Event().wait()
`

const python = findPythonWith('moto[server,s3]==5.2.5', 'flask')

describe.skipIf(!python)('a storage that verifies signatures', () => {
  let server: ReturnType<typeof start>
  let endpoint: string
  let key: [id: string, secret: string]

  const start = () => Bun.spawn([python!, '-c', SERVER], { stdout: 'pipe', stderr: 'ignore' })
  const client = (secret = key[1]) =>
    new S3Client(
      'backups',
      { endpoint, region: 'us-east-1', accessKeyId: key[0], secretAccessKey: secret, sessionToken: undefined },
      60_000,
    )

  beforeAll(async () => {
    server = start()
    const { value } = await server.stdout.getReader().read()
    const [url, id, secret] = JSON.parse(new TextDecoder().decode(value)) as [string, string, string]
    endpoint = url
    key = [id, secret]
  }, 120_000)
  afterAll(async () => {
    server.kill()
    await server.exited
  })

  const bytesOf = async (content: AsyncIterable<Uint8Array>) => Buffer.concat(await Array.fromAsync(content)).toString()

  // All characters that a prefix may have.
  const NAME = "a_b/x-y+z=(!*')@,:.txt"

  test('accepts all requests', async () => {
    const s3 = client()
    await s3.put(NAME, Buffer.from('hello'))
    expect(await s3.sizeOf(NAME)).toBe(5)
    expect(await s3.sizeOf('missing')).toBeUndefined()
    expect(await bytesOf(s3.read(NAME, 1, 4))).toBe('ell')
    expect(await s3.list('a_b/x-y+', undefined)).toEqual({ objects: [{ key: NAME, bytes: 5 }], next: undefined })
    await s3.remove(NAME)
    expect((await s3.list('', undefined)).objects).toEqual([])
  })

  test('makes an object of parts, and none of an upload that is aborted', async () => {
    const s3 = client()
    const { signal } = new AbortController()
    const upload = await s3.beginParts('large')
    const first = await s3.putPart('large', upload, 1, new Uint8Array(5 * 1_048_576), signal)
    const second = await s3.putPart('large', upload, 2, Buffer.from('end'), signal)
    await s3.endParts('large', upload, [first, second])
    expect(await s3.sizeOf('large')).toBe(5 * 1_048_576 + 3)
    await s3.abortParts('other', await s3.beginParts('other'))
    expect(await s3.sizeOf('other')).toBeUndefined()
  })

  test('refuses another secret', async () => {
    const s3 = client('another')
    for (const asked of [() => s3.list('', undefined), () => s3.put('a', Buffer.from('b')), () => s3.beginParts('a')]) {
      expect(await asked().catch((error) => error.code)).toBe('SignatureDoesNotMatch')
    }
  })
})
