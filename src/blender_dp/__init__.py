"""blender-dp"""
