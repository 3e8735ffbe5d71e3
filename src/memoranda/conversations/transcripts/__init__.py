"""Transcripts that hosts keep, read as a stream of messages: bad parts are reported and skipped, never fatal."""

from memoranda.conversations.transcripts.detect import detect as detect
from memoranda.conversations.transcripts.items import FORMATS as FORMATS
from memoranda.conversations.transcripts.items import Bad as Bad
from memoranda.conversations.transcripts.items import Format as Format
from memoranda.conversations.transcripts.items import Item as Item
from memoranda.conversations.transcripts.items import LeftOut as LeftOut
from memoranda.conversations.transcripts.items import Source as Source
from memoranda.conversations.transcripts.items import Spoken as Spoken
from memoranda.conversations.transcripts.pieces import HEAD as HEAD
from memoranda.conversations.transcripts.read import read as read
